import { normalizeMessageContent, proto } from '@whiskeysockets/baileys';
import {
  type Chat,
  type DisappearingTimer,
  getNameInChat,
  type SimulatedAccount,
} from './account.ts';
import type { Person } from './people.ts';

export interface TextDraft {
  readonly text: string;
  readonly quote?: string | undefined;
  /**
   * The mentioned people, in any form; mentions missing from the text are put before it as
   * `@digits`.
   */
  readonly mentions?: readonly string[] | undefined;
}

/** Composes the text, quote and mentions in the format that phones send. */
export function composeText(
  account: SimulatedAccount,
  chat: Chat,
  draft: TextDraft,
): proto.IMessage {
  const mentions = (draft.mentions ?? []).map((jid) =>
    getNameInChat(chat, account.people.get(jid)),
  );
  const missing = mentions.map(formatMention).filter((mention) => !draft.text.includes(mention));
  const text = [...missing, draft.text].join(' ');
  const quoted = draft.quote === undefined ? {} : buildQuote(account, chat, draft.quote);
  const timer = buildTimerContext(account, chat);
  const isPlain = mentions.length === 0 && draft.quote === undefined && timer === undefined;
  if (isPlain) return { conversation: text };
  const contextInfo = { ...quoted, ...timer, mentionedJid: mentions };
  return { extendedTextMessage: { text, contextInfo } };
}

/**
 * Returns the timer of disappearing messages; each message states its duration and the time when it
 * was set.
 */
function buildTimerContext(account: SimulatedAccount, chat: Chat): proto.IContextInfo | undefined {
  const timer = account.timers.get(chat.id);
  if (timer === undefined || timer.seconds === 0) return undefined;
  return { expiration: timer.seconds, ephemeralSettingTimestamp: timer.setAt };
}

/** Composes a message that sets the timer of a chat in seconds; 0 keeps messages. */
export function composeTimer({ seconds, setAt }: DisappearingTimer): proto.IMessage {
  const { EPHEMERAL_SETTING } = proto.Message.ProtocolMessage.Type;
  const times = { ephemeralExpiration: seconds, ephemeralSettingTimestamp: setAt };
  return { protocolMessage: { type: EPHEMERAL_SETTING, ...times } };
}

/** Composes an edit of the author's own message, wrapped as phones do. */
export function composeEdit(
  account: SimulatedAccount,
  chat: Chat,
  person: Person,
  id: string,
  draft: TextDraft,
): proto.IMessage {
  const protocolMessage = {
    type: proto.Message.ProtocolMessage.Type.MESSAGE_EDIT,
    key: buildMessageKey(account, chat, person, id),
    editedMessage: composeText(account, chat, draft),
    timestampMs: account.clock(),
  };
  return { editedMessage: { message: { protocolMessage } } };
}

/** Composes a message that deletes the author's own message for everyone. */
export function composeDelete(
  account: SimulatedAccount,
  chat: Chat,
  person: Person,
  id: string,
): proto.IMessage {
  const { REVOKE } = proto.Message.ProtocolMessage.Type;
  return { protocolMessage: { type: REVOKE, key: buildMessageKey(account, chat, person, id) } };
}

/** Composes the phone's answer to its client about a message that arrived without content. */
export function composeResentMessage(message: proto.IWebMessageInfo): proto.IMessage {
  const { PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE } = proto.Message.ProtocolMessage.Type;
  const webMessageInfoBytes = proto.WebMessageInfo.encode(message).finish();
  const peerDataOperationResult = [{ placeholderMessageResendResponse: { webMessageInfoBytes } }];
  const stanzaId = message.key?.id ?? '';
  const peerDataOperationRequestResponseMessage = { stanzaId, peerDataOperationResult };
  const type = PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE;
  return { protocolMessage: { type, peerDataOperationRequestResponseMessage } };
}

/** Composes a reaction; an empty emoji removes it. */
export function composeReaction(
  account: SimulatedAccount,
  chat: Chat,
  person: Person,
  id: string,
  emoji: string,
): proto.IMessage {
  const key = buildMessageKey(account, chat, person, id);
  return { reactionMessage: { key, text: emoji, senderTimestampMs: account.clock() } };
}

/** Returns `@` and the digits of a JID, which represent a mention in a text. */
function formatMention(jid: string): string {
  return `@${jid.split('@')[0]}`;
}

function buildQuote(account: SimulatedAccount, chat: Chat, id: string): proto.IContextInfo {
  const quoted = account.transcript.find(chat.id, id);
  if (quoted === undefined) throw new Error(`There is no message ${id} in ${chat.id}`);
  const participant = getNameInChat(chat, findAuthor(account, quoted.from));
  const quotedMessage = toQuotable(account.transcript.contentOf(chat.id, id), quoted.text);
  return { stanzaId: id, participant, quotedMessage };
}

/**
 * Returns the quoted content as phones send it: without its own context, and with its latest text.
 */
function toQuotable(message: proto.IMessage | undefined, text: string): proto.IMessage {
  const content = normalizeMessageContent(message) ?? {};
  if (content.conversation || content.extendedTextMessage) return { conversation: text };
  return Object.fromEntries(
    Object.entries(content)
      .filter(([name, value]) => value !== null && name !== 'messageContextInfo')
      .map(([name, value]) => [name, removeContext(value)]),
  );
}

function removeContext(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('contextInfo' in value)) return value;
  return { ...value, contextInfo: undefined };
}

/** Returns the key of a message from the point of view of the author's phone. */
function buildMessageKey(
  account: SimulatedAccount,
  chat: Chat,
  person: Person,
  id: string,
): proto.IMessageKey {
  const known = account.transcript.find(chat.id, id);
  if (known === undefined) throw new Error(`There is no message ${id} in ${chat.id}`);
  const author = findAuthor(account, known.from);
  const fromMe = author === person;
  if (chat.kind === 'direct') {
    const other = person === account.me ? chat.person : account.me;
    return { remoteJid: getNameInChat(chat, other), fromMe, id };
  }
  return { remoteJid: chat.id, fromMe, id, participant: author.lid };
}

function findAuthor(account: SimulatedAccount, from: string): Person {
  return from === 'bot' || from === 'owner' ? account.me : account.people.get(from);
}
