import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChannelAdapter, ChannelContext, ChannelState } from '@parley/channels';
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import { Chats } from './chats.ts';
import {
  Connection,
  openSocket,
  PairingCode,
  realWhatsAppEnv,
  type WhatsAppEnv,
} from './connection.ts';
import type { RawMessage } from './content.ts';
import { endingOnFailure, keyStore } from './credentials.ts';
import { EncryptedMessages } from './decrypt.ts';
import { createFiles } from './files.ts';
import { admitMessage, rawMessage, readMessage } from './intake.ts';
import { Names } from './names.ts';
import { listenForNotices, noteStanza, unseenIn } from './notices.ts';
import { Contacts, Groups, personIds } from './people.ts';
import { RecentMessages } from './quotes.ts';
import { createMessageFacet, SentMessages, sendPart } from './send.ts';
import { CAPABILITIES, RATES, type WhatsAppSettings } from './settings.ts';
import { Typing } from './typing.ts';

/** One WhatsApp account, linked to a phone. No network traffic before `start`. */
export function createWhatsAppAdapter(
  context: ChannelContext<WhatsAppSettings>,
  env: WhatsAppEnv = realWhatsAppEnv,
): ChannelAdapter {
  const { clock, monotonic, log, settings } = context;
  const values = endingOnFailure(context.values, (reason) => connection.breakOff(reason));
  const { ackTimeoutMs } = env;
  const stopping = new AbortController();
  const { signal } = stopping;
  const sent = new SentMessages(values);
  const recent = new RecentMessages();
  const groups = new Groups(log);
  const contacts = new Contacts(values);
  const chats = new Chats(values);
  const names = new Names();
  const http = new PairingCode();
  const report = (state: ChannelState): void => {
    http.note(state);
    context.report(state);
  };
  // Messages are admitted inside Baileys' transactions; the core's own work is not part of those.
  const outside = AsyncLocalStorage.snapshot();
  const me = () => personIds(connection.creds?.me?.id, connection.creds?.me?.lid);
  const read = ({ chat: remoteJid, id, participant }: RawMessage): void => {
    if (!settings.readReceipts) return;
    const key = { remoteJid, id, fromMe: false, ...(participant && { participant }) };
    // It confirms the message, too: not before its session is saved.
    const reading = encrypted.settled().then(() => socket()?.readMessages([key]));
    reading.catch(() => log.debug({}, 'a message cannot be marked as read'));
  };
  const intake = { context, me, contacts, recent, groups, chats, names, read, log };
  const encrypted = new EncryptedMessages({
    admit: async (envelope, plain, known) => {
      const read = await readMessage(envelope, plain, known, clock);
      if (read !== undefined) await outside(() => admitMessage(intake, read, known));
    },
    unreadable: ({ ...attrs }) => {
      const reason = 'it could not be decrypted; the phone of its sender is asked to send it again';
      void outside(() => noteStanza({ context, log }, { tag: 'message', attrs }, reason));
    },
    breakOff: (reason) => connection.breakOff(reason),
  });
  const heard = (stanza: BinaryNode, socket: WASocket): Promise<void> | undefined => {
    const unseen = unseenIn(stanza);
    if (unseen?.kind === 'ignored') void noteStanza({ context, log }, stanza, unseen.reason);
    return unseen?.kind === 'unread' ? admitUnread(stanza, unseen.what, socket) : undefined;
  };
  const admitUnread = async ({ attrs }: BinaryNode, unread: string, socket: WASocket) => {
    const known = socket.signalRepository.lidMapping;
    const raw = await rawMessage(attrs, { content: {}, unread }, known, clock);
    if (raw !== undefined) await admitMessage(intake, raw, known);
  };
  const notices = {
    context,
    log,
    nameOf: (jid: string) => names.of(jid),
    admit: (raw: RawMessage, { signalRepository }: WASocket) =>
      admitMessage(intake, raw, signalRepository.lidMapping),
  };
  const keys = keyStore(values, (damage) => connection.breakOff(damage));
  const connection = new Connection({
    phone: settings.phone,
    open: (creds) => {
      const socket = openSocket({ settings, keys, encrypted, sent, groups, heard, log }, creds);
      names.listen(socket);
      listenForNotices(socket, notices);
      return socket;
    },
    onOpen: () => {
      names.note(me(), connection.creds?.me?.name);
      void groups.askAll();
    },
    settled: () => encrypted.settled(),
    values,
    report,
    log,
    clock,
    monotonic,
    ...env,
  });
  const socket = () => connection.socket;
  const outgoing = { socket, sent, recent, groups, chats, message: context.message, ackTimeoutMs };
  const addressOf = (chatId: string) => chats.addressOf(chatId);
  const typing = new Typing({ socket, addressOf, signal, ...env });
  const pause = settings.pace ? typing.before.bind(typing) : async () => {};
  let running: Promise<void> | undefined;

  return {
    capabilities: settings.pace ? { ...CAPABILITIES, rates: RATES } : CAPABILITIES,
    async start() {
      report({ kind: 'starting' });
      running ??= connection.run(signal);
    },
    async stop() {
      stopping.abort();
      await running;
      report({ kind: 'stopped' });
    },
    send: (part, aborted) => sendPart({ ...outgoing, pause }, part, aborted),
    typing,
    files: createFiles({ socket, server: settings.url, patienceMs: ackTimeoutMs }),
    messages: createMessageFacet({ ...outgoing, clock, signal }),
    http,
  };
}
