import { describe, expect, it } from 'vitest';
import {
  computeStallLimits,
  decideAfterCheck,
  type StallVerdict,
  type WatchdogState,
} from './stall.ts';

const LIMITS = { tickMs: 2_000, noteMs: 5_000, endMs: 10_000 };
/**
 * One check: whether the event loop has turned since the previous check, and how long ago (ms) the
 * previous check was.
 */
type Look = readonly [moved: boolean, sinceLastMs: number];
const still: Look = [false, 2_000];
const moves: Look = [true, 2_000];

function verdicts(looks: readonly Look[]): readonly StallVerdict[] {
  let watched: WatchdogState = { beats: 0, stillMs: 0, isNoted: false };
  return looks.map(([moved, sinceLastMs]) => {
    const beats = watched.beats + (moved ? 1 : 0);
    const after = decideAfterCheck(watched, { beats, sinceLastMs }, LIMITS);
    watched = after.watched;
    return after.verdict;
  });
}

describe('the watchdog', () => {
  it.each<readonly [string, readonly Look[], readonly StallVerdict[]]>([
    ['a running loop', [moves, moves], ['fine', 'fine']],
    ['a short stall', [still, still, moves], ['still', 'still', 'fine']],
    [
      'a long stall that ends',
      [still, still, still, moves],
      ['still', 'still', 'note', 'recovered'],
    ],
    ['a hang', [still, still, still, still, still], ['still', 'still', 'note', 'still', 'end']],
    [
      'stalls with a turn of the loop in between',
      [still, still, moves, still, still],
      ['still', 'still', 'fine', 'still', 'still'],
    ],
    [
      'a laptop that slept for an hour',
      [moves, [false, 3_600_000], moves],
      ['fine', 'still', 'fine'],
    ],
    [
      'a laptop that sleeps repeatedly',
      [[false, 3_600_000], moves, [false, 3_600_000], moves],
      ['still', 'fine', 'still', 'fine'],
    ],
    [
      'checks that come faster than planned',
      [[false, 500], [false, 500], [false, 500], moves],
      ['still', 'still', 'still', 'fine'],
    ],
  ])('[D13] judges %s', (_what, looks, expected) => {
    expect(verdicts(looks)).toEqual(expected);
  });

  it('[D13] checks several times before it records a stall or ends the process, regardless of the limit', () => {
    for (const endMs of [1_000, 5_000, 30_000, 600_000]) {
      const { tickMs, noteMs } = computeStallLimits(endMs);
      expect(noteMs / tickMs).toBeGreaterThan(2);
      expect(endMs / noteMs).toBeGreaterThan(2);
    }
  });
});
