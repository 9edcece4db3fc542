import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChannelAdapter, ChannelContext, ChannelState } from '@parley/channels';
import { Acquaintances } from './acquaintances.ts';
import { realAmbience, type WhatsAppAmbience } from './ambience.ts';
import { endingOnFailure, keyStore } from './auth-store.ts';
import { CAPABILITIES, RATES } from './capabilities.ts';
import { Connection } from './connection.ts';
import { filesFacet } from './files-facet.ts';
import { Groups } from './groups.ts';
import { personIds } from './jids.ts';
import { messageActs } from './message-acts.ts';
import { openSocket } from './open-socket.ts';
import { PairingCode } from './pairing-code.ts';
import { readMail } from './read-mail.ts';
import { RecentMessages } from './recent-messages.ts';
import { SealedMail } from './sealed-mail.ts';
import { sendPart } from './send-part.ts';
import { SentMessages } from './sent-messages.ts';
import type { WhatsAppSettings } from './settings.ts';
import { takeMail } from './take-mail.ts';
import { Typing } from './typing.ts';

/** One WhatsApp account, linked to a phone. No network before `start`. */
export function createWhatsAppAdapter(
  context: ChannelContext<WhatsAppSettings>,
  ambience: WhatsAppAmbience = realAmbience,
): ChannelAdapter {
  const { clock, log, settings } = context;
  const values = endingOnFailure(context.values, (reason) => connection.breakOff(reason));
  const { ackTimeoutMs } = ambience;
  const stopping = new AbortController();
  const { signal } = stopping;
  const sent = new SentMessages(values);
  const recent = new RecentMessages();
  const groups = new Groups(log);
  const acquaintances = new Acquaintances(values);
  const http = new PairingCode();
  const report = (state: ChannelState): void => {
    http.note(state);
    context.report(state);
  };
  // Messages are taken inside Baileys' transactions; what the core does with them is not part of one.
  const outside = AsyncLocalStorage.snapshot();
  const me = () => personIds(connection.creds?.me?.id, connection.creds?.me?.lid);
  const taker = { context, me, acquaintances, recent, groups };
  const mail = new SealedMail({
    take: async (envelope, plain, known) => {
      const read = await readMail(envelope, plain, known);
      if (read !== undefined) await outside(() => takeMail(taker, read, known));
    },
    breakOff: (reason) => connection.breakOff(reason),
  });
  const keys = keyStore(values, (damage) => connection.breakOff(damage));
  const connection = new Connection({
    open: (creds) => openSocket({ settings, keys, mail, sent, groups, log }, creds),
    opened: () => void groups.askAll(),
    settled: () => mail.settled(),
    values,
    report,
    log,
    clock,
    ...ambience,
  });
  const socket = () => connection.socket;
  const outgoing = { socket, sent, recent, ackTimeoutMs };
  const typing = new Typing({ socket, signal, ...ambience });
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
    send: (part, aborted) => sendPart({ ...outgoing, groups, pause }, part, aborted),
    typing,
    files: filesFacet({ socket, server: settings.url, patienceMs: ackTimeoutMs }),
    messages: messageActs({ ...outgoing, clock, signal }),
    http,
  };
}
