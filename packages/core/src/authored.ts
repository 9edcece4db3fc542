import type { Authored, InboundMessage } from './inbound-message.ts';

type AuthorshipSource = Pick<
  InboundMessage,
  'text' | 'attachments' | 'replyTo' | 'quotation' | 'authored'
>;

/**
 * Decides who wrote the text of a message, in one place for approvals, memory, addresses, mentioned
 * files and commands. If an adapter does not report the author (0.1.0, and channels of plugins),
 * only plain text counts as typed.
 */
function resolveAuthorship(message: AuthorshipSource): Authored {
  const { authored, text, attachments, replyTo, quotation } = message;
  if (authored !== undefined) return authored;
  const isBare = attachments === undefined && quotation === undefined;
  const isPlain = isBare && replyTo?.text === undefined && !isGeneratedText(text);
  return isPlain ? { text: true } : {};
}

/**
 * The prefixes that version 0.1.0 added to text that the sender had not typed, such as `[Contact:
 * …]` and `[Forwarded from …]`; Discord polls had no brackets.
 */
const MADE = /^(?:\[|Poll: )/;

function isGeneratedText(text: string): boolean {
  return MADE.test(text.trimStart());
}

/**
 * Returns the text that the sender typed; empty if it came from outsiders, a program or Parley
 * itself.
 */
export function getTypedText(
  message: AuthorshipSource &
    Pick<InboundMessage, 'trigger'> & { readonly sender?: { isBot: boolean } },
): string {
  if (message.trigger !== undefined || message.sender?.isBot === true) return '';
  return resolveAuthorship(message).text === true ? message.text : '';
}

/** Whether a person's message contains anything that the sender neither typed nor spoke. */
export function hasOutsideText(message: AuthorshipSource): boolean {
  const { text, attachments = [], replyTo, quotation } = message;
  const authored = resolveAuthorship(message);
  if (text !== '' && authored.text !== true) return true;
  if ((replyTo?.text ?? '') !== '' && authored.quote !== true) return true;
  if (quotation !== undefined) return true;
  return attachments.some(({ kind }) => kind !== 'voice' || authored.voice !== true);
}

/**
 * Whether a message may be a command. Text that the adapter does not report as typed is never a
 * command, even if it starts like one.
 */
export function canBeCommand({ authored }: Pick<InboundMessage, 'authored'>): boolean {
  return authored === undefined || authored.text === true;
}
