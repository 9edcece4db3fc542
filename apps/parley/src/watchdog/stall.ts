/**
 * How long an event loop may be blocked before the stall is recorded, and before its process is
 * ended, in ms.
 */
export interface StallLimits {
  readonly tickMs: number;
  readonly noteMs: number;
  readonly endMs: number;
}

/** The state of the watchdog after a check of the event loop. */
export interface WatchState {
  /** The number of event loop turns so far. */
  readonly beats: number;
  /** How long the loop has been blocked, in ms during which the watchdog itself was running. */
  readonly stillMs: number;
  readonly isNoted: boolean;
}

/**
 * The decision after a check. `note`: record on disk that the event loop is blocked, so that a
 * supervisor that kills the process now is not taken for the cause. `end`: end the process.
 * `recovered`: record that the loop runs again.
 */
export type StallVerdict = 'fine' | 'still' | 'note' | 'recovered' | 'end';

/**
 * Decides what to do after a check. A check counts for at most one tick, however long ago the
 * previous one was: a sleeping laptop, a stopped process, or a machine without a free processor
 * also delays the watchdog, which says nothing about the event loop.
 */
export function decideAfterCheck(
  before: WatchState,
  { beats, sinceLastMs }: { readonly beats: number; readonly sinceLastMs: number },
  { tickMs, noteMs, endMs }: StallLimits,
): { readonly watched: WatchState; readonly verdict: StallVerdict } {
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

/**
 * Chooses a check interval that is short enough for the limit and long enough to have negligible
 * cost.
 */
export function computeStallLimits(endMs: number): StallLimits {
  const tickMs = Math.min(MAX_TICK_MS, endMs / 12);
  return { tickMs, noteMs: Math.min(MAX_NOTE_MS, endMs / 3), endMs };
}
