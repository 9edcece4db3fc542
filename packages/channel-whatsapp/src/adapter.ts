import type { ChannelAdapter, ChannelContext, ChannelState } from '@parley/channels';
import { ChatDirectory } from './chats.ts';
import {
  Connection,
  openSocket,
  PairingCode,
  realWhatsAppEnv,
  type WhatsAppEnv,
} from './connection.ts';
import { closeOnFailure, createKeyStore } from './credentials.ts';
import { createFiles } from './files.ts';
import { ContactNames } from './names.ts';
import { ContactDirectory, GroupCache, toPersonIds } from './people.ts';
import { RecentMessageCache } from './quotes.ts';
import { createReceiver } from './receiving.ts';
import { createMessageCapability, SentMessageStore, sendPart } from './send.ts';
import { CAPABILITIES, RATES, type WhatsAppSettings } from './settings.ts';
import { TypingIndicator } from './typing.ts';

/** One WhatsApp account, linked to a phone. It does not make network requests before `start`. */
export function createWhatsAppAdapter(
  context: ChannelContext<WhatsAppSettings>,
  env: WhatsAppEnv = realWhatsAppEnv,
): ChannelAdapter {
  const { clock, monotonic, log, settings } = context;
  const values = closeOnFailure(context.values, (reason) => breakOff(reason));
  const { ackTimeoutMs } = env;
  const stopping = new AbortController();
  const { signal } = stopping;
  const sent = new SentMessageStore(values);
  const recent = new RecentMessageCache();
  const groups = new GroupCache(log);
  const contacts = new ContactDirectory(values);
  const chats = new ChatDirectory(values);
  const names = new ContactNames();
  const http = new PairingCode();
  const report = (state: ChannelState): void => {
    http.note(state);
    context.report(state);
  };
  const me = () => toPersonIds(connection.creds?.me?.id, connection.creds?.me?.lid);
  const socket = () => connection.socket;
  const breakOff = (reason: unknown) => connection.breakOff(reason);
  const known = { contacts, recent, groups, chats, names };
  const receiving = createReceiver({ context, me, ...known, socket, breakOff });
  const { encrypted, heard } = receiving;
  const keys = createKeyStore(values, breakOff);
  const connection = new Connection({
    phone: settings.phone,
    open: (creds) => {
      const socket = openSocket({ settings, keys, encrypted, sent, groups, heard, log }, creds);
      receiving.listen(socket);
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
  const outgoing = { socket, sent, recent, groups, chats, message: context.message, ackTimeoutMs };
  const addressOf = (chatId: string) => chats.addressOf(chatId);
  const typing = new TypingIndicator({ socket, addressOf, signal, ...env });
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
    messages: createMessageCapability({ ...outgoing, clock, signal }),
    http,
  };
}
