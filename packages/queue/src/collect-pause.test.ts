import { describe, expect, it } from 'vitest';
import { collectPause } from './lane.ts';

describe('the pause before messages are collected into one turn', () => {
  it.each([
    [
      'a message of this very moment waits the whole pause',
      { newestWaiting: 1_000, now: 1_000 },
      500,
    ],
    ['an older one waits the rest', { newestWaiting: 800, now: 1_000 }, 300],
    ['one that is quiet long enough goes at once', { newestWaiting: 400, now: 1_000 }, 0],
    [
      'somebody who keeps writing is answered after ten pauses',
      { newestWaiting: 6_000, now: 6_000 },
      0,
    ],
    ['and waits less towards the end', { newestWaiting: 5_900, now: 5_900 }, 100],
    [
      'a clock that jumped back does not add to the pause',
      { newestWaiting: 99_000, now: 1_000 },
      500,
    ],
  ])('[D03] %s', (_case, facts, pause) => {
    expect(collectPause({ pauseMs: 500, waitingSince: 1_000, ...facts })).toBe(pause);
  });
});
