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

/** Whether a message passes on what somebody else wrote. */
export function isForwarded(text: string): boolean {
  return text.startsWith(FORWARDED);
}

/**
 * What a person wrote themselves, in sentences: without code, quoted lines, addresses, what they
 * forward, and what is pasted from a mail, a chat or a page. Words in quotation marks stay; whose they
 * are is for the caller to decide. A message that no person wrote has none. Speech counts for nothing:
 * what a machine understood is nobody's exact words, and a recording may be of anybody.
 */
export function ownSentences(messages: readonly InboundMessage[]): readonly OwnSentence[] {
  return messages.flatMap((message) => {
    if (message.occasion !== undefined || message.sender.isBot) return [];
    return sentencesOf(ownText(message.text)).map((text) => ({ text, message }));
  });
}

/** A line that begins somebody else's words; nothing behind it counts. */
const PASTED: readonly RegExp[] = [
  // Mails, by their heads.
  /^[^\S\n]*(?:from|von|to|an|subject|betreff|发件人|收件人|主题)\s*[:：][^\S\n]*\S/imu,
  /^[^\S\n]*-{2,}[^\S\n]*(?:original|forwarded|ursprüngliche|weitergeleitete|原始|转发)/imu,
  /^[^\S\n]*(?:on|am|le)\b.{4,90}\b(?:wrote|schrieb)\b.{0,60}:[^\S\n]*$/imu,
  // Chats, as they are copied: `[12:03, 21.11.2026] Bob: …`, `21.11.26, 12:03 - Bob: …`.
  /^[^\S\n]*\[?\d{1,4}[:./-]\d{1,2}.{0,24}(?:\]| -) ?[^\n:]{1,40}: /mu,
  // Pages.
  /^[^\S\n]*<\/?[a-z][^\n>]*>/imu,
];

/** The first `most` characters of a text without what is likely somebody else's. */
export function ownText(text: string, most = LOOKED_AT): string {
  if (isForwarded(text)) return '';
  return untilPasted(text.slice(0, most).toWellFormed())
    .replace(/```[\s\S]*?(?:```|$)/g, '\n')
    .replace(/`[^`\n]*`/g, ' ')
    .replace(/^[^\S\n]*[>＞].*$/gm, '')
    .replace(/https?:\/\/\S+/g, ' ');
}

function untilPasted(text: string): string {
  const begins = PASTED.map((form) => text.search(form)).filter((at) => at !== -1);
  return text.slice(0, Math.min(text.length, ...begins));
}

function sentencesOf(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?…])\s+|(?<=[。！？])|\n+/u)
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence));
}
