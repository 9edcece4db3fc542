import type { BeatRun, BeatState } from '@parley/store';
import { describe, expect, it } from 'vitest';
import { tellFailures } from './tell-failures.ts';

const run = (state: BeatState): BeatRun => ({
  ...{ id: 'b', agent: 'main', task: 'mail', target: 'c', state, reason: 'the `model`\nis away' },
  ...{ alert: null, startedAt: 0, finishedAt: 1, inputTokens: 0, outputTokens: 0 },
  heldUntil: null,
});

async function toldBy(states: readonly BeatState[], times: readonly string[]) {
  const told = new Map<string, string>();
  let now = 0;
  const recent = async () => states.map(run);
  const tell = tellFailures({
    store: { heartbeats: Object.assign(Object.create(null), { recent }) },
    agent: { id: 'main', timeZone: 'Europe/Vienna' },
    settings: { quietHours: '22:00-07:00' },
    tell: async (key, words) => void told.set(key, words),
    clock: () => now,
  });
  for (const time of times) {
    now = Date.parse(time);
    await tell();
  }
  return [...told];
}

describe('runs that fail one after the other', () => {
  it('[H04] are told to the owner once a day, and not at night', async () => {
    const times = ['2026-11-21T23:00Z', '2026-11-22T05:59Z', '2026-11-22T06:01Z'];
    const days = [...times, '2026-11-22T18:00Z', '2026-11-23T08:00Z'];
    const told = await toldBy(['failed', 'failed', 'failed'], days);
    expect(told.map(([key]) => key)).toEqual([
      'beats-failed:main:2026-11-22',
      'beats-failed:main:2026-11-23',
    ]);
    expect(told[0]?.[1]).toContain('3 times in a row (mail). The last time: `the model is away`.');
  });

  it.each<readonly BeatState[]>([
    [],
    ['failed'],
    ['failed', 'failed', 'quiet'],
    ['running', 'failed', 'failed'],
  ])('[H04] are not told of after %s, %s, %s', async (...states) => {
    expect(await toldBy(states, ['2026-11-22T12:00Z'])).toEqual([]);
  });
});
