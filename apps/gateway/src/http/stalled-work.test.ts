import { createMovableTime } from '@parley/core/testing';
import type { OldestWork } from '@parley/store';
import { describe, expect, it } from 'vitest';
import { createStallDetector } from './stalled-work.ts';

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 10, 26, 12);

const waiting = (at: number, lastTurnAt: number | null = null): OldestWork => ({
  message: { seq: 7, at },
  lastTurnAt,
  parts: [],
});
const unsent = (at: number): OldestWork => ({
  message: null,
  lastTurnAt: null,
  parts: [{ channel: 'telegram', account: 'default', seq: 3, at }],
});

describe('waiting work', () => {
  it.each([
    ['a message that has waited for 29 s is not stalled', waiting(START - 29_000), null],
    [
      'a message that has waited for 31 s is stalled',
      waiting(START - 31_000),
      { ageMs: 31_000, noTurns: true },
    ],
    [
      'while turns start and end it is only waiting for a free worker',
      waiting(START - 31_000, START - 5_000),
      { ageMs: 31_000, noTurns: false },
    ],
    [
      'a last turn long ago is no sign of life',
      waiting(START - 31_000, START - 60_000),
      { ageMs: 31_000, noTurns: true },
    ],
  ])('[D13] %s', (_what, work, messages) => {
    const time = createMovableTime(START);
    expect(createStallDetector(time.clock, time.monotonic)(work)).toEqual({
      messages,
      accounts: new Map(),
    });
  });

  it('[D13] is reported with its account if an answer stays unsent', () => {
    const time = createMovableTime(START);
    const detect = createStallDetector(time.clock, time.monotonic);
    expect(detect(unsent(START - 31_000)).accounts).toEqual(
      new Map([['telegram/default', 31_000]]),
    );
    expect(detect(unsent(START - 20_000)).accounts.size).toBe(0);
  });

  it('[D13] is reported even if the clock was set back by an hour', () => {
    const time = createMovableTime(START);
    const detect = createStallDetector(time.clock, time.monotonic);
    const work = { ...waiting(START, START), parts: unsent(START).parts };
    time.stepClock(-HOUR_MS);
    expect(detect(work).messages).toBeNull();
    time.pass(31_000);
    expect(detect(work)).toEqual({
      messages: { ageMs: 31_000, noTurns: true },
      accounts: new Map([['telegram/default', 31_000]]),
    });
    expect(detect({ ...work, message: { seq: 8, at: START } }).messages).toBeNull();
  });
});
