/** The time for which an event loop may stand still, in ms: until it is noted, and until its process is ended. */
export interface StallLimits {
  readonly tickMs: number;
  readonly noteMs: number;
  readonly endMs: number;
}

/** The state of the watchdog after a look at the event loop. */
export interface Watched {
  /** The number of turns of the event loop. */
  readonly beats: number;
  /** For how long it has not, in ms that the watchdog itself was awake. */
  readonly stillMs: number;
  readonly isNoted: boolean;
}

/**
 * The decision after a look: `note` on disk that the event loop stands still, so that a supervisor which kills the
 * process now is not taken for the reason; `end` the process; or note that the loop has `recovered`.
 */
export type StallVerdict = 'fine' | 'still' | 'note' | 'recovered' | 'end';

/**
 * Decides by what a look has found. A look counts for one tick however long the one before it is ago: a laptop that
 * slept, a process that was stopped, or a machine without a free processor kept the watchdog from its own looks as
 * well, and says nothing about the event loop.
 */
export function afterLook(
  before: Watched,
  { beats, sinceLastMs }: { readonly beats: number; readonly sinceLastMs: number },
  { tickMs, noteMs, endMs }: StallLimits,
): { readonly watched: Watched; readonly verdict: StallVerdict } {
  if (beats !== before.beats) {
    const watched = { beats, stillMs: 0, isNoted: false };
    return { watched, verdict: before.isNoted ? 'recovered' : 'fine' };
  }
  const stillMs = before.stillMs + Math.min(sinceLastMs, tickMs);
  const isNoted = stillMs >= noteMs;
  const watched = { beats, stillMs, isNoted };
  if (stillMs >= endMs) return { watched, verdict: 'end' };
  return { watched, verdict: isNoted && !before.isNoted ? 'note' : 'still' };
}

const MAX_TICK_MS = 2_000;
const MAX_NOTE_MS = 5_000;

/** Looks often enough for a limit, and seldom enough to cost nothing. */
export function stallLimits(endMs: number): StallLimits {
  const tickMs = Math.min(MAX_TICK_MS, endMs / 12);
  return { tickMs, noteMs: Math.min(MAX_NOTE_MS, endMs / 3), endMs };
}
