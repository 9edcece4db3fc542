import type { InboundMessage } from './inbound-message.ts';

/**
 * The maximum length of a quotation of the answered message, in characters. The answered message
 * itself is usually already part of the context.
 */
const MAX_ANSWERED = 200;

type ContextMessage = Pick<InboundMessage, 'text' | 'attachments' | 'replyTo' | 'quotation'>;

/**
 * Formats a message that did not address the bot for the group's next turn (F06): its text, its
 * files by kind and name, the beginning of the message it answers, and its quotation. Empty if the
 * message has no content of its own.
 */
export function formatContextMessage({
  text,
  attachments = [],
  replyTo,
  quotation,
}: ContextMessage): string {
  const files = attachments.map(({ kind, name }) => `[${[kind, name].filter(Boolean).join(': ')}]`);
  const own = [...(text.trim() === '' ? [] : [text]), ...files];
  if (own.length === 0 && quotation === undefined) return '';
  const from = quotation?.from === undefined ? '' : ` ${quotation.from}`;
  return [
    ...own,
    ...(replyTo?.text ? [`[Replies to: ${truncateQuotedText(replyTo.text)}]`] : []),
    ...(quotation === undefined ? [] : [`[Quotes${from}: ${quotation.text}]`]),
  ].join(' ');
}

/** Truncated text is marked with its full length (P10). */
function truncateQuotedText(text: string): string {
  if (text.length <= MAX_ANSWERED) return text;
  const start = text.slice(0, MAX_ANSWERED).toWellFormed();
  return `${start}… [cut: ${MAX_ANSWERED} of ${text.length} characters]`;
}
