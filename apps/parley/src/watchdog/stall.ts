/**
 * How long (ms) an event loop may be blocked before the stall is recorded, and before the process
 * is ended.
 */
export interface StallLimits {
  readonly tickMs: number;
  readonly noteMs: number;
  readonly endMs: number;
}

/** The state of the watchdog after a check of the event loop. */
export interface WatchdogState {
  /** The number of event loop turns so far. */
  readonly beats: number;
  /**
   * How long (ms) the loop has been blocked; only the time in which the watchdog itself was running
   * counts.
   */
  readonly stillMs: number;
  readonly isNoted: boolean;
}

/**
 * What the watchdog decides after a check. `note`: records on disk that the event loop is blocked,
 * in case a supervisor kills the process before the watchdog does. `end`: ends the process.
 * `recovered`: records that the event loop is running again.
 */
export type StallVerdict = 'fine' | 'still' | 'note' | 'recovered' | 'end';

/**
 * Decides what to do after a check. A check counts for at most one tick, even if the previous one
 * was long ago. A sleeping laptop, a stopped process or a busy machine also delays the watchdog, so
 * such a delay does not prove that the event loop is blocked.
 */
export function decideAfterCheck(
  before: WatchdogState,
  { beats, sinceLastMs }: { readonly beats: number; readonly sinceLastMs: number },
  { tickMs, noteMs, endMs }: StallLimits,
): { readonly watched: WatchdogState; readonly verdict: StallVerdict } {
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
 * Chooses a check interval that is short compared with the limit, but long enough that its cost is
 * negligible.
 */
export function computeStallLimits(endMs: number): StallLimits {
  const tickMs = Math.min(MAX_TICK_MS, endMs / 12);
  return { tickMs, noteMs: Math.min(MAX_NOTE_MS, endMs / 3), endMs };
}
