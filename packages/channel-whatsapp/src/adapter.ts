import type { ChannelAdapter, ChannelContext, ChannelState } from '@parley/channels';
import { Chats } from './chats.ts';
import {
  Connection,
  openSocket,
  PairingCode,
  realWhatsAppEnv,
  type WhatsAppEnv,
} from './connection.ts';
import { endingOnFailure, keyStore } from './credentials.ts';
import { createFiles } from './files.ts';
import { Names } from './names.ts';
import { Contacts, Groups, personIds } from './people.ts';
import { RecentMessages } from './quotes.ts';
import { createReceiving } from './receiving.ts';
import { createMessageCapability, SentMessages, sendPart } from './send.ts';
import { CAPABILITIES, RATES, type WhatsAppSettings } from './settings.ts';
import { Typing } from './typing.ts';

/** One WhatsApp account, linked to a phone. It makes no network requests before `start`. */
export function createWhatsAppAdapter(
  context: ChannelContext<WhatsAppSettings>,
  env: WhatsAppEnv = realWhatsAppEnv,
): ChannelAdapter {
  const { clock, monotonic, log, settings } = context;
  const values = endingOnFailure(context.values, (reason) => breakOff(reason));
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
  const me = () => personIds(connection.creds?.me?.id, connection.creds?.me?.lid);
  const socket = () => connection.socket;
  const breakOff = (reason: unknown) => connection.breakOff(reason);
  const known = { contacts, recent, groups, chats, names };
  const receiving = createReceiving({ context, me, ...known, socket, breakOff });
  const { encrypted, heard } = receiving;
  const keys = keyStore(values, breakOff);
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
    messages: createMessageCapability({ ...outgoing, clock, signal }),
    http,
  };
}
