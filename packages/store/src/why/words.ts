import type { TimelineEntry } from '@parley/contracts';

/** Something that happened at a moment. */
export function entry(
  stage: TimelineEntry['stage'],
  at: number | null,
  words: string,
): TimelineEntry {
  return { stage, at, ms: null, words };
}

/** Something that took time; null where an end is not known. */
export function lasting(
  stage: TimelineEntry['stage'],
  from: number | null,
  to: number | null,
  words: string,
): TimelineEntry {
  const ms = from === null || to === null ? null : Math.max(0, to - from);
  return { stage, at: from, ms, words };
}

/** `14:05:09`, in UTC: whoever reads it may be anywhere. */
export function clockTime(at: number): string {
  return `${new Date(at).toISOString().slice(11, 19)}Z`;
}

/** `1 part`, `2 parts`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
