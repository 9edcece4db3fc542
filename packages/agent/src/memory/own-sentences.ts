import type { InboundMessage } from '@parley/contracts';

/** A sentence of a message, and the message. */
export interface OwnSentence {
  readonly text: string;
  readonly message: InboundMessage;
}

/** So many characters of one message are looked at. */
const LOOKED_AT = 8_000;

/** How channels mark words that somebody passes on; all of such a message is another's. */
const FORWARDED = '[Forwarded';

/**
 * What a person wrote themselves, in sentences: without code, quoted lines, addresses and
 * what they forward. Words in
 * quotation marks stay; whose they are is for the caller to decide. A message that no person wrote
 * has none.
 */
export function ownSentences(messages: readonly InboundMessage[]): readonly OwnSentence[] {
  return messages.flatMap((message) => {
    if (message.occasion !== undefined || message.sender.isBot) return [];
    return sentencesOf(ownText(message.text)).map((text) => ({ text, message }));
  });
}

/** The text without what is likely somebody else's. */
function ownText(text: string): string {
  if (text.startsWith(FORWARDED)) return '';
  return text
    .slice(0, LOOKED_AT)
    .toWellFormed()
    .replace(/```[\s\S]*?(?:```|$)/g, '\n')
    .replace(/`[^`\n]*`/g, ' ')
    .replace(/^[^\S\n]*[>＞].*$/gm, '')
    .replace(/https?:\/\/\S+/g, ' ');
}

function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?…])\s+|(?<=[。！？])|\n+/u)
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}
