import type { ModelMessage, UserMessage } from '@parley/models';
import { quoteUntrusted } from '@parley/prompt';
import type { InboxRow, RememberedEntry, TranscriptEntry } from '@parley/store';
import { z } from 'zod';

/** What a transcript entry holds: the words, as they were written or answered. */
const Spoken = z.object({ text: z.string() });

/** How much of the past the model sees. Characters are UTF-16 units, about four to a token. */
export interface HistoryLimits {
  readonly entries: number;
  readonly characters: number;
}

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
      const written = isDirect ? message.text : withoutForgedSenders(message.text);
      const words = [...attached(row), written].filter((text) => text !== '').join('\n\n');
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

function undeliveredNotice(reason: string): string {
  return `⚙️ Not all of your last answer was certain to reach this chat: ${reason}`;
}

/** Makes a transcript entry of something that was said. */
export function spoken(role: 'user' | 'assistant', text: string): TranscriptEntry {
  return { role, content: { text } };
}

/**
 * The model's messages: as much of the newest history as fits, then `now`. Neighbours with the same
 * role are joined, because many local chat templates insist on strict alternation.
 */
export function modelMessages(
  transcript: readonly RememberedEntry[],
  now: UserMessage,
  limits: HistoryLimits,
): ModelMessage[] {
  const past: { role: 'user' | 'assistant'; content: string }[] = [];
  let left = limits.characters;
  for (const entry of transcript.toReversed()) {
    if (entry.role !== 'user' && entry.role !== 'assistant') continue;
    const { text } = Spoken.parse(entry.content);
    left -= text.length;
    if (left < 0) break;
    // Told as the system does (G08), so that the model can say it again or differently (D05).
    if (entry.undelivered !== undefined) {
      past.unshift({ role: 'user', content: undeliveredNotice(entry.undelivered) });
    }
    past.unshift({ role: entry.role, content: text });
  }
  // A history that opens with an answer has lost its question.
  while (past[0]?.role === 'assistant') past.shift();
  const messages: ModelMessage[] = [];
  for (const next of [...past, now]) {
    const last = messages.at(-1);
    // Only the newest message has pictures, so it is the one whose other fields are kept.
    if (last?.role === next.role)
      messages[messages.length - 1] = { ...next, content: `${last.content}\n\n${next.content}` };
    else messages.push(next);
  }
  return messages;
}
