import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChannelAdapter, ChannelContext, ChannelState } from '@parley/channels';
import type { Capabilities } from '@parley/contracts';
import { realAmbience, type WhatsAppAmbience } from './ambience.ts';
import { keyStore } from './auth-store.ts';
import { Connection } from './connection.ts';
import { GroupTitles } from './group-titles.ts';
import { personIds } from './jids.ts';
import { openSocket } from './open-socket.ts';
import { PairingCode } from './pairing-code.ts';
import { Quotes } from './quotes.ts';
import { type KnownPeople, readMail } from './read-mail.ts';
import { type Envelope, SealedMail } from './sealed-mail.ts';
import { sendText } from './send-text.ts';
import { SentMessages } from './sent-messages.ts';
import type { WhatsAppSettings } from './settings.ts';
import { toInbound } from './to-inbound.ts';

const CAPABILITIES: Capabilities = {
  // Real clients take 65,536; nobody reads more than this in one bubble.
  target: { dialect: 'whatsapp', maxLength: 4_000, unit: 'utf16' },
  idempotentSend: true,
  typing: true,
  edit: false,
  delete: false,
  react: false,
  threads: false,
  buttons: false,
  streaming: 'none',
  media: [],
};

/** Phones show "typing" for about 25 s. */
const TYPING_REPEAT_MS = 10_000;

/** One WhatsApp account, linked to a phone: text in, text out. No network before `start`. */
export function createWhatsAppAdapter(
  context: ChannelContext<WhatsAppSettings>,
  ambience: WhatsAppAmbience = realAmbience,
): ChannelAdapter {
  const { account, clock, log, receive, settings, values } = context;
  const stopping = new AbortController();
  const sent = new SentMessages(values);
  const quotes = new Quotes();
  const titles = new GroupTitles(log);
  // Messages are taken inside Baileys' transactions; what the core does with them is not part of one.
  const outside = AsyncLocalStorage.snapshot();
  const http = new PairingCode();
  const report = (state: ChannelState): void => {
    http.note(state);
    context.report(state);
  };
  let running: Promise<void> | undefined;

  const take = async (envelope: Envelope, plain: Uint8Array, people: KnownPeople) => {
    const mail = await readMail(envelope, plain, people);
    if (mail === undefined) return;
    const me = personIds(connection.creds?.me?.id, connection.creds?.me?.lid);
    const message = toInbound({ ...mail, title: titles.get(mail.chat) }, { account, me });
    if (message === undefined) return;
    quotes.remember(message, mail.from);
    const outcome = await outside(() => receive(message));
    if (outcome.kind === 'refused') quotes.forget(message);
  };
  const mail = new SealedMail({
    take,
    breakOff: (reason) => connection.breakOff(reason),
  });
  const keys = keyStore(values, (damage) => connection.breakOff(damage));
  const connection = new Connection({
    open: (creds) => {
      const socket = openSocket({ settings, keys, mail, sent, log }, creds);
      titles.listen(socket);
      return socket;
    },
    opened: (socket) => void titles.ask(socket),
    settled: () => mail.settled(),
    values,
    report,
    log,
    clock,
    ...ambience,
  });

  return {
    capabilities: CAPABILITIES,
    http,
    async start() {
      report({ kind: 'starting' });
      running ??= connection.run(stopping.signal);
    },
    async stop() {
      stopping.abort();
      await running;
      report({ kind: 'stopped' });
    },
    send: (part, signal) => {
      const { ackTimeoutMs } = ambience;
      return sendText(
        { socket: () => connection.socket, sent, quotes, ackTimeoutMs },
        part,
        signal,
      );
    },
    typing: {
      repeatMs: TYPING_REPEAT_MS,
      show: async ({ chatId }) => connection.socket?.sendPresenceUpdate('composing', chatId),
    },
  };
}
