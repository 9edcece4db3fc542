import { quoteUntrusted } from '@parley/prompt';
import type { InboxRow, TranscriptEntry } from '@parley/store';
import type { QuotableMessages } from '../answer/visible-text.ts';
import type { Turn } from './turn.ts';

/** The maximum length of a sender's name before the text of a message, in characters. */
const NAME_CHARACTERS = 80;

/**
 * Joins the messages of one turn into one text. In groups each message names its sender as quoted
 * data (P18). `attached` formats the attachments to a message, which precede its text.
 */
export function joinMessageTexts(
  messages: readonly InboxRow[],
  attached: (row: InboxRow) => readonly string[],
): string {
  return messages
    .map((row) => {
      const { message } = row;
      // For messages from Parley no sender is named.
      const isDirect = message.chat.type === 'direct' || message.trigger !== undefined;
      const text = removeTagCharacters(message.text);
      const written = isDirect ? text : quoteForgedSenders(text);
      const parts = [...attached(row).map(removeTagCharacters), written];
      const whole = parts.filter((part) => part !== '').join('\n\n');
      return isDirect
        ? whole
        : `From ${quoteUntrusted(message.sender.name, NAME_CHARACTERS)}: ${whole}`;
    })
    .join('\n\n');
}

/** Quotes each line that looks like the start of another person's message (P18). */
function quoteForgedSenders(text: string): string {
  return text.replace(/^(?=[^\S\n]*From ["“„«])/gim, '> ');
}

/** Matches tag characters, and flags of regions such as Scotland's, which are written with them. */
const FLAG_OR_TAG =
  /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}|[\u{e0000}-\u{e007f}]/gu;

/**
 * Removes tag characters. Tag characters are invisible to people but not to a model, so they could
 * carry instructions (P18).
 */
function removeTagCharacters(text: string): string {
  return text.replace(FLAG_OR_TAG, (found) => (found.startsWith('\u{1f3f4}') ? found : ''));
}

/** A transcript entry that contains only text. */
export function createTextEntry(role: 'user' | 'assistant', text: string): TranscriptEntry {
  return { role, content: { text } };
}

/**
 * The messages that a turn's answer may quote: the messages that it answers (`joined` lists the
 * later ones) and the messages that these quote, in the chat that receives the answer. Empty if the
 * platform cannot show quotations. Ids from other chats would refer to other messages.
 */
export function listQuotableMessages(
  { lead, route, messages, groupContext }: Turn,
  joined: readonly InboxRow[],
): QuotableMessages {
  if (route.quotes !== true) return { known: new Set() };
  const ofChat = [...messages, ...joined].filter((row) => isShownInChat(row, lead));
  const known = ofChat.flatMap(({ message: { messageId, replyTo } }) =>
    replyTo === undefined ? [messageId] : [messageId, replyTo.messageId],
  );
  const isShown = isShownInChat(lead, lead);
  const heard = isShown ? groupContext.map(({ messageId }) => messageId) : [];
  return {
    ...(isShown && { current: lead.message.messageId }),
    known: new Set([...known, ...heard]),
  };
}

/** Whether a message was shown in the chat. Parley's messages to the agent are not shown. */
function isShownInChat({ message }: InboxRow, { route }: InboxRow): boolean {
  const { channel, account, chat, trigger } = message;
  return (
    trigger === undefined &&
    channel === route.channel &&
    account === route.account &&
    chat.id === route.chatId
  );
}
