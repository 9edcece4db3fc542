import { quoteUntrusted } from '@parley/prompt';
import type { InboxRow, TranscriptEntry } from '@parley/store';
import type { QuotableMessages } from '../answer/visible-text.ts';
import type { Turn } from './turn.ts';

/** Longest name of a sender before their text, in characters. */
const NAME_CHARACTERS = 80;

/**
 * The messages of one turn as one text; in groups each names its sender, quoted as data (P18).
 * `attached`: the attachments of a message as text, before its own.
 */
export function messagesText(
  messages: readonly InboxRow[],
  attached: (row: InboxRow) => readonly string[],
): string {
  return messages
    .map((row) => {
      const { message } = row;
      // Parley's own messages name no sender.
      const isDirect = message.chat.type === 'direct' || message.trigger !== undefined;
      const text = withoutTagCharacters(message.text);
      const written = isDirect ? text : withoutForgedSenders(text);
      const parts = [...attached(row).map(withoutTagCharacters), written];
      const whole = parts.filter((part) => part !== '').join('\n\n');
      return isDirect
        ? whole
        : `From ${quoteUntrusted(message.sender.name, NAME_CHARACTERS)}: ${whole}`;
    })
    .join('\n\n');
}

/** Quotes each line that looks like the start of another person's message (P18). */
function withoutForgedSenders(text: string): string {
  return text.replace(/^(?=[^\S\n]*From ["“„«])/gim, '> ');
}

/** Tag characters; flags of regions, such as Scotland's, are written with them. */
const FLAG_OR_TAG =
  /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}|[\u{e0000}-\u{e007f}]/gu;

/** Tag characters are invisible to people but not to a model, so they could carry instructions (P18). */
function withoutTagCharacters(text: string): string {
  return text.replace(FLAG_OR_TAG, (found) => (found.startsWith('\u{1f3f4}') ? found : ''));
}

/** An entry of the transcript that holds text alone. */
export function textEntry(role: 'user' | 'assistant', text: string): TranscriptEntry {
  return { role, content: { text } };
}

/**
 * The messages that the answer of a turn may quote: those it answers (`joined`: later ones) and those that they quote,
 * in the chat it goes to. None where the platform cannot show it. Ids of other chats would name other messages.
 */
export function quotableMessages(
  { lead, route, messages, groupContext }: Turn,
  joined: readonly InboxRow[],
): QuotableMessages {
  if (route.quotes !== true) return { known: new Set() };
  const ofChat = [...messages, ...joined].filter((row) => isShownIn(row, lead));
  const known = ofChat.flatMap(({ message: { messageId, replyTo } }) =>
    replyTo === undefined ? [messageId] : [messageId, replyTo.messageId],
  );
  const isShown = isShownIn(lead, lead);
  const heard = isShown ? groupContext.map(({ messageId }) => messageId) : [];
  return {
    ...(isShown && { current: lead.message.messageId }),
    known: new Set([...known, ...heard]),
  };
}

/** Whether a message was shown in the chat. Parley's own messages to the agent never were. */
function isShownIn({ message }: InboxRow, { route }: InboxRow): boolean {
  const { channel, account, chat, trigger } = message;
  return (
    trigger === undefined &&
    channel === route.channel &&
    account === route.account &&
    chat.id === route.chatId
  );
}
