import { describe, expect, it } from 'vitest';
import { readMetrics } from './take-sample.ts';
import { judgeWatch, WATCH_LIMITS, type WatchBaseline, type WatchSample } from './watch.ts';

const BASELINE: WatchBaseline = { turnMs: 2_000, messagesPerMinute: 4, deadLetters: 3 };
const MINUTE = 60_000;

function sample(minutes: number, change: Partial<WatchSample> = {}): WatchSample {
  return {
    ...{ at: minutes * MINUTE, health: 'ready', restarts: 0, errorLines: 0, deadLetters: 3 },
    ...{ oldestMessageSeconds: 0, oldestPartSeconds: 0, messages: 9, turns: 9, turnMs: 2_500 },
    ...change,
  };
}

describe('the watch after a switch', () => {
  it.each([
    ['goes on while all is well', [sample(0), sample(5)], 'watch'],
    ['goes on while the release starts', [sample(1, { health: 'silent' })], 'watch'],
    ['goes on during a short outage', [sample(4), sample(4.5, { health: 'down' })], 'watch'],
    ['accepts a platform that is not reachable', [sample(10, { health: 'degraded' })], 'keep'],
    ['keeps the release after ten minutes', [sample(0), sample(10)], 'keep'],
    ['is not misled by earlier dead letters', [sample(10, { deadLetters: 5 })], 'keep'],
    [
      'does not judge the latency of a few turns',
      [sample(10, { turnMs: 60_000, turns: 2 })],
      'keep',
    ],
    ['returns from a release that is never ready', [sample(2, { health: 'down' })], 'return'],
    ['returns from one that falls silent', [sample(3), sample(4, { health: 'silent' })], 'return'],
    ['returns from one that keeps failing', [sample(1, { restarts: 2 })], 'return'],
    ['returns from one that logs errors', [sample(1, { errorLines: 21 })], 'return'],
    ['returns when messages are given up', [sample(1, { deadLetters: 6 })], 'return'],
    ['returns when messages wait', [sample(2, { oldestMessageSeconds: 91 })], 'return'],
    ['returns when answers are not sent', [sample(2, { oldestPartSeconds: 91 })], 'return'],
    ['returns when no message arrives any more', [sample(3, { messages: 0 })], 'return'],
    ['returns when turns take much longer', [sample(5, { turnMs: 9_000 })], 'return'],
    [
      'returns from one that is down at the end',
      [sample(9.5), sample(10, { health: 'down' })],
      'return',
    ],
  ] as const)('[D18] %s', (_what, samples, kind) => {
    expect(judgeWatch(samples, BASELINE, WATCH_LIMITS).kind).toBe(kind);
  });

  it('[D18] expects no message where few people write', () => {
    const quiet = { ...BASELINE, messagesPerMinute: 0.1 };
    expect(judgeWatch([sample(10, { messages: 0 })], quiet, WATCH_LIMITS).kind).toBe('keep');
  });

  it('[D18] reads the metrics of the running release, and counts missing ones as zero', () => {
    const text = [
      'parley_turn_seconds_sum{outcome="answered"} 6',
      'parley_turn_seconds_sum{outcome="failed"} 2',
      'parley_turn_seconds_count{outcome="answered"} 3',
      'parley_turn_seconds_count{outcome="failed"} 1',
      'parley_ingress_total{channel="telegram",outcome="accepted"} 4',
      'parley_outbox_oldest_seconds{channel="telegram"} 7.5',
      'parley_outbox_oldest_seconds{channel="discord"} 2',
    ].join('\n');
    expect(readMetrics(text)).toEqual({
      ...{ turns: 4, turnMs: 2_000, messages: 4, deadLetters: 0 },
      ...{ oldestMessageSeconds: 0, oldestPartSeconds: 7.5 },
    });
  });
});
