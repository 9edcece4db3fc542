import { createHash } from 'node:crypto';
import type { MessageCapability } from '@parley/channels';
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
import type { ChatDirectory } from './chats.ts';
import { type SendFailure, toSendFailure, toWhatsAppSendError } from './failures.ts';
import { canBeCaption, createFileMessage, listMentionedMembers } from './format.ts';
import { isGroup } from './people.ts';
import { type AddressedChat, findMessage, type QuoteDeps } from './quotes.ts';

interface SendDeps extends TransmitDeps, QuoteDeps {
  /** Shows typing for as long as a person would type; resolves when the message may be sent. */
  readonly pause: (chatId: string, characters: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Sends one message part and waits until WhatsApp's server acknowledges it. The message id is
 * derived from the key of the part, so that a part that is sent twice is shown once. Link previews
 * are disabled, because they would cause requests from this machine.
 * @throws ChannelError
 */
export async function sendPart(
  deps: SendDeps,
  part: OutboundPart,
  signal: AbortSignal,
): Promise<Receipt> {
  const { socket } = openConnection(deps, signal);
  const { text } = part.body;
  const messageId = deriveMessageId(part.idempotencyKey);
  await deps.pause(part.route.chatId, text.length, signal);
  if (part.file === undefined) {
    await sendContent(
      deps,
      { part, messageId, content: await createTextMessage(deps, part) },
      signal,
    );
    return { platformMessageId: messageId };
  }
  const isCaption = canBeCaption(part.file, text);
  if (!isCaption && text !== '') {
    const first = { part, messageId: deriveMessageId(`${part.idempotencyKey} text`) };
    await sendContent(deps, { ...first, content: await createTextMessage(deps, part) }, signal);
  }
  const caption = isCaption ? text : '';
  const content = await createFileMessage(part.file, caption, { upload: socket.waUploadToServer });
  await sendContent(deps, { part, messageId, content }, signal);
  return { platformMessageId: messageId };
}

interface PreparedMessage {
  readonly part: OutboundPart;
  readonly messageId: string;
  readonly content: proto.IMessage;
}

async function sendContent(
  deps: SendDeps,
  { part, messageId, content }: PreparedMessage,
  signal: AbortSignal,
): Promise<void> {
  const chat = await resolveAddress(deps, part.route.chatId);
  const { userJid } = openConnection(deps, signal, chat.address);
  const quoted = await findQuotedMessage(deps, chat, part);
  const { message } = generateWAMessageFromContent(chat.address, content, {
    userJid,
    messageId,
    ...(quoted === undefined ? {} : { quoted }),
  });
  const timed = addDisappearingTimer(
    message ?? {},
    await getDisappearingTimer(deps, part.route.chatId),
  );
  await transmitMessage(deps, { to: chat.address, messageId, content: timed }, signal);
}

async function resolveAddress({ chats }: TransmitDeps, chatId: string): Promise<AddressedChat> {
  return { chatId, address: await chats.addressOf(chatId) };
}

/** The chat's timer, as a message context; undefined if messages do not disappear. */
async function getDisappearingTimer(
  { chats, groups }: TransmitDeps & Pick<QuoteDeps, 'groups'>,
  chatId: string,
): Promise<proto.IContextInfo | undefined> {
  const { expiration, setAt } = await chats.of(chatId);
  // WhatsApp itself reports a group's timer; the timer from messages is used only if that request
  // fails.
  const group = isGroup(chatId) ? await groups.find(chatId).catch(() => undefined) : undefined;
  const seconds = group === undefined ? expiration : group.ephemeralDuration;
  if (seconds === undefined || seconds <= 0) return undefined;
  const since = setAt === undefined ? {} : { ephemeralSettingTimestamp: setAt };
  return { expiration: seconds, ...since };
}

/** Adds the timer to a message, so that phones know when to remove it. */
function addDisappearingTimer(
  content: proto.IMessage,
  timer: proto.IContextInfo | undefined,
): proto.IMessage {
  if (timer === undefined) return content;
  const [kind] = TIMED.filter((name) => content[name] != null);
  if (kind === undefined) return content;
  const contextInfo = { ...content[kind]?.contextInfo, ...timer };
  return { ...content, [kind]: { ...content[kind], contextInfo } };
}

/**
 * The kinds of messages that get a timer. Phones remove deletions and reactions together with the
 * message to which they refer.
 */
const TIMED = [
  'extendedTextMessage',
  'imageMessage',
  'videoMessage',
  'audioMessage',
  'documentMessage',
] as const;

/** Mentioned group members are notified if the settings allow it (M05). */
async function createTextMessage(
  { groups }: SendDeps,
  { body: { text }, route }: OutboundPart,
): Promise<proto.IMessage> {
  const isLive = route.target.mentions === 'live' && isGroup(route.chatId);
  const group = isLive ? await groups.find(route.chatId).catch(() => undefined) : undefined;
  const mentionedJid = group === undefined ? [] : listMentionedMembers(text, group);
  if (mentionedJid.length === 0) return { extendedTextMessage: { text } };
  return { extendedTextMessage: { text, contextInfo: { mentionedJid } } };
}

/**
 * The message to quote. In direct chats, the route has one only if the agent has chosen it (G10).
 */
async function findQuotedMessage(
  deps: SendDeps,
  chat: AddressedChat,
  { route: { replyToMessageId } }: OutboundPart,
): Promise<WAMessage | undefined> {
  return replyToMessageId === undefined ? undefined : findMessage(deps, chat, replyToMessageId);
}

interface MessageDeps extends TransmitDeps, QuoteDeps {
  readonly clock: Clock;
  /** The signal is aborted when the account stops. */
  readonly signal: AbortSignal;
}

const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;

/**
 * Edits and deletes the account's messages, and reacts to other people's messages. In WhatsApp,
 * each of these actions is a separate message with a new id, so the same edit may be sent twice.
 * Phones silently ignore edits after 15 minutes and deletions after two days.
 */
export function createMessageCapability(deps: MessageDeps): Required<MessageCapability> {
  const send = (to: string, change: Pick<OutgoingMessage, 'content' | 'edit'>) =>
    transmitMessage(deps, { to, messageId: generateMessageIDV2(), ...change }, deps.signal);
  const own = (remoteJid: string, id: string) => ({ remoteJid, id, fromMe: true });
  return {
    async edit({ chatId }, messageId, { text }) {
      const { address } = await resolveAddress(deps, chatId);
      const edited = { extendedTextMessage: { text } };
      const protocolMessage = {
        key: own(address, messageId),
        type: MESSAGE_EDIT,
        editedMessage: addDisappearingTimer(edited, await getDisappearingTimer(deps, chatId)),
        timestampMs: deps.clock(),
      };
      await send(address, { content: { protocolMessage }, edit: '1' });
    },
    async delete({ chatId }, messageId) {
      const { address } = await resolveAddress(deps, chatId);
      const protocolMessage = { key: own(address, messageId), type: REVOKE };
      await send(address, { content: { protocolMessage }, edit: '7' });
    },
    async react({ chatId }, messageId, emoji = '') {
      const chat = await resolveAddress(deps, chatId);
      const key = await resolveMessageKey(deps, chat, messageId);
      const reactionMessage = { key, text: emoji, senderTimestampMs: deps.clock() };
      await send(chat.address, { content: { reactionMessage } });
    },
  };
}

/** A message's key, which in a group includes the sender. */
async function resolveMessageKey(
  deps: MessageDeps,
  chat: AddressedChat,
  id: string,
): Promise<proto.IMessageKey> {
  const key = { remoteJid: chat.address, id };
  if ((await deps.sent.find(id)) !== undefined) return { ...key, fromMe: true };
  if (!isGroup(chat.chatId)) return { ...key, fromMe: false };
  const found = await findMessage(deps, chat, id);
  if (found !== undefined) return found.key;
  const text = 'This group message is too old to react to.';
  throw new ChannelError({ kind: 'refused' }, text);
}

interface TransmitDeps {
  /** The open connection; undefined while there is none. */
  readonly socket: () => WASocket | undefined;
  readonly sent: SentMessageStore;
  readonly chats: Pick<ChatDirectory, 'of' | 'addressOf'>;
  /** The deadline for the server's response, in ms. */
  readonly ackTimeoutMs: number;
}

interface OutgoingMessage {
  /** The JID of a group or a person. */
  readonly to: string;
  readonly messageId: string;
  readonly content: proto.IMessage;
  /** `1` for an edit, `7` for a deletion. */
  readonly edit?: '1' | '7';
}

/**
 * The open connection, and the account's id for sending. It is the account's identity if the
 * recipient is an identity without a number.
 * @throws ChannelError if there is no connection
 */
function openConnection({ socket: open }: TransmitDeps, signal: AbortSignal, to = '') {
  const socket = open();
  const { id, lid } = socket?.user ?? {};
  const userJid = to.endsWith('@lid') ? (lid ?? id) : id;
  if (socket === undefined || userJid === undefined || signal.aborted) {
    throw toWhatsAppSendError({ kind: 'away' });
  }
  return { socket, userJid };
}

/**
 * Sends a message and waits until WhatsApp's server acknowledges it.
 * @throws ChannelError
 */
async function transmitMessage(
  deps: TransmitDeps,
  { to, messageId, content, edit }: OutgoingMessage,
  signal: AbortSignal,
): Promise<void> {
  const { socket } = openConnection(deps, signal);
  const answer = new AbortController();
  const failure = waitForServerResponse(
    socket,
    messageId,
    AbortSignal.any([signal, answer.signal]),
  );
  try {
    await deps.sent.keep(messageId, content);
    const additionalAttributes = edit === undefined ? {} : { edit };
    await socket.relayMessage(to, content, { messageId, additionalAttributes });
  } catch (thrown) {
    answer.abort();
    throw toWhatsAppSendError(toSendFailure(thrown), thrown);
  }
  const timer = setTimeout(() => answer.abort(), deps.ackTimeoutMs);
  const problem = await failure.finally(() => clearTimeout(timer));
  if (problem !== undefined) throw toWhatsAppSendError(problem);
}

/** Waits for the server's response on the raw socket, because Baileys has no event for it. */
function waitForServerResponse(
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
/** The number of slots; a new message replaces the message in the slot that its id determines. */
const SLOTS = 2_048;
const Sent = z.object({ id: z.string(), content: z.base64() });

/**
 * The message id for a message part, derived from the key of the part, so that a part sent twice is
 * shown once.
 */
export function deriveMessageId(idempotencyKey: string): string {
  const hash = createHash('sha256').update(`parley ${idempotencyKey}`).digest('hex');
  return `3EB0${hash.slice(0, 18).toUpperCase()}`;
}

/**
 * Stores sent messages for phones that could not decrypt them and request them again, even after a
 * restart. The number of messages is limited by slots instead of age: each id determines one slot,
 * which keeps the latest message.
 */
export class SentMessageStore {
  readonly #values: AdapterValues;

  constructor(values: AdapterValues) {
    this.#values = values;
  }

  async keep(id: string, content: proto.IMessage): Promise<void> {
    const bytes = Buffer.from(proto.Message.encode(content).finish());
    const value = JSON.stringify({ id, content: bytes.toString('base64') });
    await this.#values.set([{ kind: KIND, id: getSlot(id), value }]);
  }

  /** Finds a message; undefined if it was never sent or was sent too long ago. */
  async find(id: string): Promise<proto.IMessage | undefined> {
    const slot = getSlot(id);
    const stored = (await this.#values.get(KIND, [slot])).get(slot);
    if (stored === undefined) return undefined;
    const sent = Sent.parse(JSON.parse(stored));
    return sent.id === id ? proto.Message.decode(Buffer.from(sent.content, 'base64')) : undefined;
  }
}

function getSlot(id: string): string {
  return String(createHash('sha256').update(id).digest().readUInt32BE() % SLOTS);
}
