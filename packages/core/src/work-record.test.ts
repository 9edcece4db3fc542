import { expect, it } from 'vitest';
import { type CrashCounts, decideNextAttempt, describeCrashes } from './work-record.ts';

const rows: readonly [CrashCounts, ReturnType<typeof decideNextAttempt>][] = [
  [{ hangs: 0, deaths: 0 }, 'run'],
  [{ hangs: 1, deaths: 0 }, 'run'],
  [{ hangs: 1, deaths: 4 }, 'run'],
  [{ hangs: 2, deaths: 0 }, 'give-up'],
  [{ hangs: 2, deaths: 4 }, 'give-up'],
  [{ hangs: 0, deaths: 5 }, 'give-up'],
  [{ hangs: 0, deaths: 9 }, 'give-up'],
  [{ hangs: 1, deaths: 5 }, 'give-up'],
  [{ hangs: 3, deaths: 0 }, 'drop'],
  [{ hangs: 0, deaths: 10 }, 'drop'],
  [{ hangs: 2, deaths: 10 }, 'drop'],
];

it.each(rows)('[D13] decides what to do with work after the crashes %o: %s', (ends, next) => {
  expect(decideNextAttempt(ends)).toBe(next);
});

it('[D13] reports hangs if they are the reason for abandoning work, otherwise the number of starts', () => {
  expect(describeCrashes({ hangs: 2, deaths: 2 })).toContain('blocked the process 2 times');
  expect(describeCrashes({ hangs: 1, deaths: 5 })).toBe('started 5 times');
});
