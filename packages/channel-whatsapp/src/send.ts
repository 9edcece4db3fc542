import { createHash } from 'node:crypto';
import {
  type ChannelAdapter,
  type ChannelEnv,
  type MessageFacet,
  shortened,
} from '@parley/channels';
import {
  type AdapterValues,
  ChannelError,
  type Clock,
  type OutboundPart,
  type Receipt,
} from '@parley/core';
import {
  type BinaryNode,
  generateMessageIDV2,
  generateWAMessageFromContent,
  proto,
  type WAMessage,
  type WASocket,
} from '@whiskeysockets/baileys';
import { z } from 'zod';
import { notSent, type SendFailure, sendErrorOf } from './failures.ts';
import { canBeCaption, fileMessage, mentionedIn } from './format.ts';
import { isGroup } from './people.ts';
import { findMessage, type QuoteDeps } from './quotes.ts';

interface SendDeps extends TransmitDeps, QuoteDeps {
  /** Shows typing for a while, as a person would; resolves when the message may be sent. */
  readonly pause: (chatId: string, characters: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Sends one part and waits until WhatsApp's server confirms it. The id is derived from the part's key, so
 * that a part sent again is shown once. There are no link previews: they would send requests from here.
 * @throws ChannelError
 */
export async function sendPart(
  deps: SendDeps,
  part: OutboundPart,
  signal: AbortSignal,
): Promise<Receipt> {
  const { socket } = openConnection(deps, signal);
  const { text } = part.body;
  const messageId = messageIdOf(part.idempotencyKey);
  await deps.pause(part.route.chatId, text.length, signal);
  if (part.file === undefined) {
    await sendContent(deps, { part, messageId, content: await textMessage(deps, part) }, signal);
    return { platformMessageId: messageId };
  }
  const isCaption = canBeCaption(part.file, text);
  if (!isCaption && text !== '') {
    const first = { part, messageId: messageIdOf(`${part.idempotencyKey} text`) };
    await sendContent(deps, { ...first, content: await textMessage(deps, part) }, signal);
  }
  const caption = isCaption ? text : '';
  const content = await fileMessage(part.file, caption, { upload: socket.waUploadToServer });
  await sendContent(deps, { part, messageId, content }, signal);
  return { platformMessageId: messageId };
}

interface Piece {
  readonly part: OutboundPart;
  readonly messageId: string;
  readonly content: proto.IMessage;
}

async function sendContent(
  deps: SendDeps,
  { part, messageId, content }: Piece,
  signal: AbortSignal,
): Promise<void> {
  const { userJid } = openConnection(deps, signal);
  const { chatId } = part.route;
  const quoted = await quotedBy(deps, part);
  const { message } = generateWAMessageFromContent(chatId, content, {
    userJid,
    messageId,
    ...(quoted === undefined ? {} : { quoted }),
  });
  await transmit(deps, { chatId, messageId, content: message ?? {} }, signal);
}

/** Where the settings allow it, mentioned members of a group are notified (M05). */
async function textMessage(
  { groups }: SendDeps,
  { body: { text }, route }: OutboundPart,
): Promise<proto.IMessage> {
  const isLive = route.target.mentions === 'live' && isGroup(route.chatId);
  const group = isLive ? await groups.find(route.chatId).catch(() => undefined) : undefined;
  const mentionedJid = group === undefined ? [] : mentionedIn(text, group);
  if (mentionedJid.length === 0) return { extendedTextMessage: { text } };
  return { extendedTextMessage: { text, contextInfo: { mentionedJid } } };
}

/** In direct chats the route has a message only where the agent has chosen one (G10). */
async function quotedBy(
  deps: SendDeps,
  { route: { chatId, replyToMessageId } }: OutboundPart,
): Promise<WAMessage | undefined> {
  return replyToMessageId === undefined ? undefined : findMessage(deps, chatId, replyToMessageId);
}

interface MessageFacetDeps extends TransmitDeps, QuoteDeps {
  readonly clock: Clock;
  /** Aborted when the account stops. */
  readonly signal: AbortSignal;
}

const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;

/**
 * Edits and deletes the account's messages, and reacts to others. Each is a message of its own to
 * WhatsApp, with a new id: the same edit may be sent twice. Phones silently ignore edits after 15 minutes
 * and deletions after two days.
 */
export function createMessageFacet(deps: MessageFacetDeps): Required<MessageFacet> {
  const send = (chatId: string, change: Pick<Outgoing, 'content' | 'edit'>) =>
    transmit(deps, { chatId, messageId: generateMessageIDV2(), ...change }, deps.signal);
  const own = (remoteJid: string, id: string) => ({ remoteJid, id, fromMe: true });
  return {
    async edit({ chatId }, messageId, { text }) {
      const protocolMessage = {
        key: own(chatId, messageId),
        type: MESSAGE_EDIT,
        editedMessage: { extendedTextMessage: { text } },
        timestampMs: deps.clock(),
      };
      await send(chatId, { content: { protocolMessage }, edit: '1' });
    },
    async delete({ chatId }, messageId) {
      const protocolMessage = { key: own(chatId, messageId), type: REVOKE };
      await send(chatId, { content: { protocolMessage }, edit: '7' });
    },
    async react({ chatId }, messageId, emoji = '') {
      const key = await keyOf(deps, chatId, messageId);
      const reactionMessage = { key, text: emoji, senderTimestampMs: deps.clock() };
      await send(chatId, { content: { reactionMessage } });
    },
  };
}

/** The key of a message in a group includes its sender. */
async function keyOf(
  deps: MessageFacetDeps,
  chatId: string,
  id: string,
): Promise<proto.IMessageKey> {
  const key = { remoteJid: chatId, id };
  if ((await deps.sent.find(id)) !== undefined) return { ...key, fromMe: true };
  if (!isGroup(chatId)) return { ...key, fromMe: false };
  const found = await findMessage(deps, chatId, id);
  if (found !== undefined) return found.key;
  const text = 'This group message is too old to react to.';
  throw new ChannelError({ kind: 'refused' }, text);
}

interface TransmitDeps {
  /** The open connection; undefined while there is none. */
  readonly socket: () => WASocket | undefined;
  readonly sent: SentMessages;
  /** How long the server may take to answer, in ms. */
  readonly ackTimeoutMs: number;
}

interface Outgoing {
  readonly chatId: string;
  readonly messageId: string;
  readonly content: proto.IMessage;
  /** `1` for an edit, `7` for a deletion. */
  readonly edit?: '1' | '7';
}

/** The open connection and its account. @throws ChannelError while there is none */
function openConnection({ socket: open }: TransmitDeps, signal: AbortSignal) {
  const socket = open();
  const userJid = socket?.user?.id;
  if (socket === undefined || userJid === undefined || signal.aborted) {
    throw sendErrorOf({ kind: 'away' });
  }
  return { socket, userJid };
}

/** Sends a message and waits until WhatsApp's server confirms it. @throws ChannelError */
async function transmit(
  deps: TransmitDeps,
  { chatId, messageId, content, edit }: Outgoing,
  signal: AbortSignal,
): Promise<void> {
  const { socket } = openConnection(deps, signal);
  const answer = new AbortController();
  const failure = serverAnswer(socket, messageId, AbortSignal.any([signal, answer.signal]));
  try {
    await deps.sent.keep(messageId, content);
    const additionalAttributes = edit === undefined ? {} : { edit };
    await socket.relayMessage(chatId, content, { messageId, additionalAttributes });
  } catch (thrown) {
    answer.abort();
    throw sendErrorOf(notSent(thrown), thrown);
  }
  const timer = setTimeout(() => answer.abort(), deps.ackTimeoutMs);
  const problem = await failure.finally(() => clearTimeout(timer));
  if (problem !== undefined) throw sendErrorOf(problem);
}

/** Baileys has no event for the server's answer; it is read from the raw socket. */
function serverAnswer(
  { ws, ev }: WASocket,
  id: string,
  signal: AbortSignal,
): Promise<SendFailure | undefined> {
  const ACK = 'CB:ack,class:message';
  return new Promise((resolve) => {
    const end = (failure: SendFailure | undefined) => {
      ws.off(ACK, onAck);
      ev.off('connection.update', onUpdate);
      signal.removeEventListener('abort', onAbort);
      resolve(failure);
    };
    const onAck = ({ attrs }: BinaryNode) => {
      if (attrs.id !== id) return;
      end(attrs.error === undefined ? undefined : { kind: 'refused', code: Number(attrs.error) });
    };
    const onUpdate = ({ connection }: { readonly connection?: string }) => {
      if (connection === 'close') end({ kind: 'unanswered', reason: 'the connection was lost' });
    };
    const onAbort = () => end({ kind: 'unanswered', reason: 'no answer in time' });
    ws.on(ACK, onAck);
    ev.on('connection.update', onUpdate);
    signal.addEventListener('abort', onAbort);
  });
}

const KIND = 'sent';
/** Number of slots; a new message replaces the one in the slot of its id. */
const SLOTS = 2_048;
const Sent = z.object({ id: z.string(), content: z.base64() });

/** The message id of a part: the same for the same key, so that it is shown once. */
export function messageIdOf(idempotencyKey: string): string {
  const hash = createHash('sha256').update(`parley ${idempotencyKey}`).digest('hex');
  return `3EB0${hash.slice(0, 18).toUpperCase()}`;
}

/**
 * Sent messages, for phones that could not decrypt them and ask again, also after a restart. Bounded by
 * slots instead of age: each id has one slot, which keeps the last message.
 */
export class SentMessages {
  readonly #values: AdapterValues;

  constructor(values: AdapterValues) {
    this.#values = values;
  }

  async keep(id: string, content: proto.IMessage): Promise<void> {
    const bytes = Buffer.from(proto.Message.encode(content).finish());
    const value = JSON.stringify({ id, content: bytes.toString('base64') });
    await this.#values.set([{ kind: KIND, id: slotOf(id), value }]);
  }

  /** Undefined for a message that was never sent, or too long ago. */
  async find(id: string): Promise<proto.IMessage | undefined> {
    const slot = slotOf(id);
    const stored = (await this.#values.get(KIND, [slot])).get(slot);
    if (stored === undefined) return undefined;
    const sent = Sent.parse(JSON.parse(stored));
    return sent.id === id ? proto.Message.decode(Buffer.from(sent.content, 'base64')) : undefined;
  }
}

function slotOf(id: string): string {
  return String(createHash('sha256').update(id).digest().readUInt32BE() % SLOTS);
}

/** Phones show "typing" for about 25 s, in ms. */
const REPEAT_MS = 10_000;
/** Without a repetition typing ends after this long, in ms. */
const OVER_AFTER_MS = 15_000;

/** Typing before a message: longer for long ones, up to a limit. In ms. */
const PAUSE = { least: 400, perCharacter: 12, most: 3_000 };

/** How long a person would type, shortened by up to half by chance; `random` is in [0, 1). In ms. */
export function typingTimeMs(characters: number, random: number): number {
  const full = Math.min(PAUSE.most, PAUSE.least + characters * PAUSE.perCharacter);
  return shortened(full, random);
}

interface TypingDeps extends ChannelEnv {
  readonly socket: () => WASocket | undefined;
  /** Aborted when the account stops. */
  readonly signal: AbortSignal;
}

/** Shows typing and its end; WhatsApp blocks programs that answer at once. */
export class Typing implements NonNullable<ChannelAdapter['typing']> {
  readonly repeatMs = REPEAT_MS;
  readonly #deps: TypingDeps;
  /** By chat: ends the typing shown there. */
  readonly #shown = new Map<string, AbortController>();

  constructor(deps: TypingDeps) {
    this.#deps = deps;
  }

  async show({ chatId }: { readonly chatId: string }): Promise<void> {
    const { signal, wait } = this.#deps;
    this.#shown.get(chatId)?.abort();
    const ending = new AbortController();
    this.#shown.set(chatId, ending);
    await this.#send('composing', chatId);
    const over = AbortSignal.any([ending.signal, signal]);
    void wait(OVER_AFTER_MS, over).then(() => (over.aborted ? undefined : this.end(chatId)));
  }

  /** Shows typing for as long as a person would type. Never rejects. */
  async before(chatId: string, characters: number, signal: AbortSignal): Promise<void> {
    const { random, wait } = this.#deps;
    await this.show({ chatId }).catch(() => undefined);
    await wait(typingTimeMs(characters, random()), signal);
    await this.end(chatId);
  }

  /** Never rejects: typing ends by itself soon. */
  async end(chatId: string): Promise<void> {
    const shown = this.#shown.get(chatId);
    if (shown === undefined) return;
    this.#shown.delete(chatId);
    shown.abort();
    await this.#send('paused', chatId).catch(() => undefined);
  }

  async #send(state: 'composing' | 'paused', chatId: string): Promise<void> {
    await this.#deps.socket()?.sendPresenceUpdate(state, chatId);
  }
}
