import { createHash } from 'node:crypto';
import { z } from 'zod';

/** What kind of thing is remembered (G13). */
export const MemoryType = z.enum(['preference', 'fact', 'skill', 'habit', 'constraint']);
export type MemoryType = z.infer<typeof MemoryType>;

/** What a memory is about; `session` counts until `/new` in the chat where it was saved. */
export const MemoryScope = z.enum(['user', 'project', 'session']);
export type MemoryScope = z.infer<typeof MemoryScope>;

/** The message in which it was said. */
export const MemoryOrigin = z.strictObject({
  channel: z.string(),
  chat: z.string(),
  message: z.string(),
  conversation: z.string(),
  session: z.coerce.number().int(),
});
export type MemoryOrigin = z.infer<typeof MemoryOrigin>;

/**
 * Whose words they are. `own`: exactly what the person wrote. `agent`: put down by the agent.
 * `hand`: somebody wrote the line into the file.
 */
export type MemoryWords = 'own' | 'agent' | 'hand';

/** One thing that is remembered, as it stands in one line of a file. */
export interface MemoryEntry {
  readonly id: string;
  readonly type: MemoryType;
  readonly scope: MemoryScope;
  /** One line. */
  readonly text: string;
  /** Whom it is about or who said it, by Parley's id (`telegram:42`). */
  readonly person: string | null;
  /** `2026-11-21` */
  readonly date: string | null;
  readonly from: MemoryOrigin | null;
  readonly words: MemoryWords;
  /** Saved by Parley itself, because the model did not. */
  readonly automatic: boolean;
}

/** Longest memory, in characters. */
const MEMORY_CHARACTERS = 500;

/** A text as one plain line that can neither begin nor end a mark of the file. */
export function memoryLine(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/<!--|--+>|<!/g, ' ')
    .replace(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .replace(/^[\s\-*+>#]+/, '')
    .trim();
  return line.length <= MEMORY_CHARACTERS
    ? line
    : `${line
        .slice(0, MEMORY_CHARACTERS - 2)
        .toWellFormed()
        .trim()} …`;
}

/**
 * The id of what somebody said in one message: the same in every run of a turn, so that it is saved
 * once. `seed` says which of several.
 */
export function memoryId(seed: readonly string[]): string {
  return `m${hash(JSON.stringify(seed))}`;
}

/** The id of a line that somebody wrote by hand; changes with its text. */
export function handId(text: string): string {
  return `h${hash(text)}`;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}
