import type { Authored, InboundMessage } from './inbound-message.ts';

type AuthoredSource = Pick<
  InboundMessage,
  'text' | 'attachments' | 'replyTo' | 'quotation' | 'authored'
>;

/**
 * The one decision about whose words a message holds: for approvals, memory, addresses, mentioned files and commands
 * alike. An adapter that does not say (0.1.0, and channels of plugins) is believed for plain text alone.
 */
function readAuthored(message: AuthoredSource): Authored {
  const { authored, text, attachments, replyTo, quotation } = message;
  if (authored !== undefined) return authored;
  const isBare = attachments === undefined && quotation === undefined;
  const isPlain = isBare && replyTo?.text === undefined && !isMade(text);
  return isPlain ? { text: true } : {};
}

/**
 * The beginnings that 0.1.0 gave to text that nobody typed: `[Contact: …]`, `[Forwarded from …]`; polls of Discord
 * had no brackets.
 */
const MADE = /^(?:\[|Poll: )/;

function isMade(text: string): boolean {
  return MADE.test(text.trimStart());
}

/** The text that the sender typed; empty where outsiders, a program or Parley itself wrote it. */
export function typedText(
  message: AuthoredSource &
    Pick<InboundMessage, 'trigger'> & { readonly sender?: { isBot: boolean } },
): string {
  if (message.trigger !== undefined || message.sender?.isBot === true) return '';
  return readAuthored(message).text === true ? message.text : '';
}

/** Whether a message of a person brings anything that its sender neither typed nor spoke. */
export function hasOutsideText(message: AuthoredSource): boolean {
  const { text, attachments = [], replyTo, quotation } = message;
  const authored = readAuthored(message);
  if (text !== '' && authored.text !== true) return true;
  if ((replyTo?.text ?? '') !== '' && authored.quote !== true) return true;
  if (quotation !== undefined) return true;
  return attachments.some(({ kind }) => kind !== 'voice' || authored.voice !== true);
}

/** Whether a message may be a command. Text that nobody typed, by the adapter, is none, whatever it starts with. */
export function mayCommand({ authored }: Pick<InboundMessage, 'authored'>): boolean {
  return authored === undefined || authored.text === true;
}
