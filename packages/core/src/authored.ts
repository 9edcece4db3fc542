import type { Authored, InboundMessage } from './inbound-message.ts';

type AuthoredSource = Pick<
  InboundMessage,
  'text' | 'attachments' | 'replyTo' | 'quotation' | 'authored'
>;

/**
 * Decides in one place who wrote the text of a message, for approvals, memory, addresses, mentioned
 * files and commands. When an adapter does not report it (0.1.0, and channels of plugins), only
 * plain text counts as typed.
 */
function readAuthored(message: AuthoredSource): Authored {
  const { authored, text, attachments, replyTo, quotation } = message;
  if (authored !== undefined) return authored;
  const isBare = attachments === undefined && quotation === undefined;
  const isPlain = isBare && replyTo?.text === undefined && !isGeneratedText(text);
  return isPlain ? { text: true } : {};
}

/**
 * The prefixes that 0.1.0 added to text that nobody typed, such as `[Contact: …]` and `[Forwarded
 * from …]`; Discord polls had no brackets.
 */
const MADE = /^(?:\[|Poll: )/;

function isGeneratedText(text: string): boolean {
  return MADE.test(text.trimStart());
}

/**
 * The text that the sender typed; empty when it came from outsiders, a program or Parley itself.
 */
export function getTypedText(
  message: AuthoredSource &
    Pick<InboundMessage, 'trigger'> & { readonly sender?: { isBot: boolean } },
): string {
  if (message.trigger !== undefined || message.sender?.isBot === true) return '';
  return readAuthored(message).text === true ? message.text : '';
}

/** Whether a person's message contains anything that its sender neither typed nor spoke. */
export function hasOutsideText(message: AuthoredSource): boolean {
  const { text, attachments = [], replyTo, quotation } = message;
  const authored = readAuthored(message);
  if (text !== '' && authored.text !== true) return true;
  if ((replyTo?.text ?? '') !== '' && authored.quote !== true) return true;
  if (quotation !== undefined) return true;
  return attachments.some(({ kind }) => kind !== 'voice' || authored.voice !== true);
}

/**
 * Whether a message may be a command. Text that the adapter does not report as typed never is one,
 * whatever it starts with.
 */
export function mayCommand({ authored }: Pick<InboundMessage, 'authored'>): boolean {
  return authored === undefined || authored.text === true;
}
