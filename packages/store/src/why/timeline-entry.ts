import type { TimelineEntry } from '@parley/core';

/** Leaves out absent items. */
export function dropAbsentItems<T>(items: readonly (T | false)[]): readonly T[] {
  return items.filter((item): item is T => item !== false);
}

/** Creates an entry for an event at a point in time. */
export function createMomentEntry(
  stage: TimelineEntry['stage'],
  at: number | null,
  text: string,
): TimelineEntry {
  return { stage, at, ms: null, text };
}

/** Creates an entry for a period; its length is null if either end is unknown. */
export function createDurationEntry(
  stage: TimelineEntry['stage'],
  from: number | null,
  to: number | null,
  text: string,
): TimelineEntry {
  const ms = from === null || to === null ? null : Math.max(0, to - from);
  return { stage, at: from, ms, text };
}
