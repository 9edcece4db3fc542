import { quoteUntrusted } from '@parley/prompt';
import type { InboxRow, TranscriptEntry } from '@parley/store';
import { withoutUnseenLetters } from './unseen-letters.ts';

/** Longest name of a sender that stands before their words, in characters. */
const LONGEST_NAME = 80;

/**
 * The messages of one turn as one text; in groups each says who wrote it, quoted as data (P18).
 * `attached`: what came with a message, in words; it stands before what was written about it.
 */
export function textOf(
  messages: readonly InboxRow[],
  attached: (row: InboxRow) => readonly string[],
): string {
  return messages
    .map((row) => {
      const { message } = row;
      // Parley's own words have no sender in front.
      const isDirect = message.chat.type === 'direct' || message.occasion !== undefined;
      const text = withoutUnseenLetters(message.text);
      const written = isDirect ? text : withoutForgedSenders(text);
      const parts = [...attached(row).map(withoutUnseenLetters), written];
      const words = parts.filter((part) => part !== '').join('\n\n');
      return isDirect
        ? words
        : `From ${quoteUntrusted(message.sender.name, LONGEST_NAME)}: ${words}`;
    })
    .join('\n\n');
}

/** A line that looks like the beginning of another person's message becomes a quotation (P18). */
function withoutForgedSenders(text: string): string {
  return text.replace(/^(?=[^\S\n]*From ["“„«])/gim, '> ');
}

/** Makes a transcript entry of something that was said. */
export function spoken(role: 'user' | 'assistant', text: string): TranscriptEntry {
  return { role, content: { text } };
}
