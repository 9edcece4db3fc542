import { type proto, proto as wire } from '@whiskeysockets/baileys';
import type { Account, Chat } from './account.ts';
import type { Person } from './people.ts';
import { nameIn } from './routes.ts';

/** A text as somebody types it. */
export interface Draft {
  readonly text: string;
  /** Id of the message it answers. */
  readonly quote?: string | undefined;
  /** People in any form; who is not in the text as `@digits` is put before it. */
  readonly mentions?: readonly string[] | undefined;
}

/** The text, quote and mentions as a phone sends them. */
export function composeText(account: Account, chat: Chat, draft: Draft): proto.IMessage {
  const mentions = (draft.mentions ?? []).map((jid) => nameIn(chat, account.people.get(jid)));
  const missing = mentions.map(tag).filter((mention) => !draft.text.includes(mention));
  const text = [...missing, draft.text].join(' ');
  const quoted = draft.quote === undefined ? {} : quoteOf(account, chat, draft.quote);
  if (mentions.length === 0 && draft.quote === undefined) return { conversation: text };
  return { extendedTextMessage: { text, contextInfo: { ...quoted, mentionedJid: mentions } } };
}

/** Another text in place of one's own earlier one, wrapped as phones do. */
export function composeEdit(
  account: Account,
  chat: Chat,
  person: Person,
  id: string,
  draft: Draft,
): proto.IMessage {
  const protocolMessage = {
    type: wire.Message.ProtocolMessage.Type.MESSAGE_EDIT,
    key: keyOf(account, chat, person, id),
    editedMessage: composeText(account, chat, draft),
    timestampMs: account.clock(),
  };
  return { editedMessage: { message: { protocolMessage } } };
}

/** One's own message taken back for everyone. */
export function composeDelete(
  account: Account,
  chat: Chat,
  person: Person,
  id: string,
): proto.IMessage {
  const { REVOKE } = wire.Message.ProtocolMessage.Type;
  return { protocolMessage: { type: REVOKE, key: keyOf(account, chat, person, id) } };
}

/** A reaction; an empty emoji takes it back. */
export function composeReaction(
  account: Account,
  chat: Chat,
  person: Person,
  id: string,
  emoji: string,
): proto.IMessage {
  const key = keyOf(account, chat, person, id);
  return { reactionMessage: { key, text: emoji, senderTimestampMs: account.clock() } };
}

/** `@` and the digits: what stands in a text where somebody is mentioned. */
function tag(jid: string): string {
  return `@${jid.split('@')[0]}`;
}

function quoteOf(account: Account, chat: Chat, id: string): proto.IContextInfo {
  const quoted = account.transcript.find(chat.id, id);
  if (quoted === undefined) throw new Error(`There is no message ${id} in ${chat.id}`);
  const participant = nameIn(chat, authorOf(account, quoted.from));
  return { stanzaId: id, participant, quotedMessage: { conversation: quoted.text } };
}

/** The key of a message as the speaker's phone has it. */
function keyOf(account: Account, chat: Chat, person: Person, id: string): proto.IMessageKey {
  const known = account.transcript.find(chat.id, id);
  if (known === undefined) throw new Error(`There is no message ${id} in ${chat.id}`);
  const author = authorOf(account, known.from);
  const fromMe = author === person;
  if (chat.kind === 'direct') {
    const other = person === account.me ? chat.person : account.me;
    return { remoteJid: nameIn(chat, other), fromMe, id };
  }
  return { remoteJid: chat.id, fromMe, id, participant: author.lid };
}

function authorOf(account: Account, from: string): Person {
  return from === 'bot' || from === 'owner' ? account.me : account.people.get(from);
}
