import { ChannelError, type ChannelFailure } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { decideAfterFetchFailure, planFetch } from './fetch-plan.ts';

const MB = 1_024 * 1_024;
const limits = { fileBytes: 20 * MB, messageBytes: 50 * MB };
const room = (all: number, sender = Number.POSITIVE_INFINITY) => ({ all, sender });
const due = (size: number | undefined, bytesTaken = 0) => ({
  attachment: { kind: 'image' as const, ref: 'r', ...(size === undefined ? {} : { size }) },
  bytesTaken,
});

describe('how many bytes of an attachment are fetched', () => {
  it.each([
    ['a small file is fetched up to the limit of the settings', due(1), 99 * MB, 20 * MB],
    ['a file of unknown size is fetched up to the same limit', due(undefined), 99 * MB, 20 * MB],
    ['the platform may allow less', due(1), 8 * MB, 8 * MB],
    ['the message may have room for less', due(1, 45 * MB), 99 * MB, 5 * MB],
  ])('[F10] %s', (_case, attachment, platform, limit) => {
    expect(planFetch(attachment, limits, platform, room(99 * MB))).toMatchObject({
      kind: 'fetch',
      limit,
    });
  });

  it.each([
    ['it claims to be too large', due(21 * MB), 99 * MB, 'larger than the 20 MB'],
    ['it is too large for the platform', due(9 * MB), 8.5 * MB, 'larger than the 8.5 MB'],
    ['the message has no room left', due(6 * MB, 45 * MB), 99 * MB, '50 MB together'],
    ['the message is full', due(undefined, 50 * MB), 99 * MB, '50 MB together'],
  ])('[F10] fetches nothing when %s', (_case, attachment, platform, why) => {
    const plan = planFetch(attachment, limits, platform, room(99 * MB));
    expect(plan).toEqual({ kind: 'refuse', why: expect.stringContaining(why) });
  });
});

it('[F10] [D07] fetches nothing when a file of the maximum size might not fit', () => {
  expect(planFetch(due(1), limits, 99 * MB, room(20 * MB - 1))).toMatchObject({ kind: 'refuse' });
  expect(planFetch(due(1), limits, 99 * MB, room(20 * MB))).toMatchObject({ kind: 'fetch' });
});

it("[D07] [G19] fetches nothing beyond one person's share", () => {
  const ofSender = (size: number | undefined, left: number) =>
    planFetch(due(size), limits, 99 * MB, room(99 * MB, left));
  const why = expect.stringContaining('more files than I accept at a time');
  expect(ofSender(6 * MB, 5 * MB)).toEqual({ kind: 'refuse', why });
  expect(ofSender(1, 0)).toEqual({ kind: 'refuse', why });
  expect(ofSender(5 * MB, 5 * MB)).toEqual({ kind: 'fetch', limit: 5 * MB, why });
  // Platforms do not always report a file's size.
  expect(ofSender(undefined, 5 * MB)).toEqual({ kind: 'fetch', limit: 5 * MB, why });
});

describe('a failed fetch', () => {
  const failed = (failure: ChannelFailure) => new ChannelError(failure, 'no');

  it.each(['gone', 'forbidden', 'refused', 'refused-format'] as const)(
    '[F10] is not retried when the failure is %s',
    (kind) => {
      expect(decideAfterFetchFailure(failed({ kind }), 0).kind).toBe('give-up');
    },
  );

  it.each([
    ['transient', failed({ kind: 'transient' })],
    ['of unknown outcome', failed({ kind: 'unknown-outcome' })],
    ['anything else', new TypeError('a defect')],
  ])('[F10] is retried three times within a minute when the failure is %s', (_case, thrown) => {
    const waits = [0, 1, 2, 3].map((attempts) => decideAfterFetchFailure(thrown, attempts));
    expect(waits).toEqual([
      { kind: 'retry', inMs: 2_000 },
      { kind: 'retry', inMs: 6_000 },
      { kind: 'retry', inMs: 20_000 },
      { kind: 'give-up', why: 'it could not be fetched' },
    ]);
  });

  it('[F10] is retried after the delay that the platform requests', () => {
    const thrown = failed({ kind: 'rate-limited', retryAfterMs: 9_000, scope: 'account' });
    expect(decideAfterFetchFailure(thrown, 0)).toEqual({ kind: 'retry', inMs: 9_000 });
  });
});
