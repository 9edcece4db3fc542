import { ParleyError } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { type Check, ok, runChecks } from './check.ts';
import { clockFindings } from './own-checks.ts';

const run = (checks: readonly Check[], deadlineMs = 10_000) =>
  runChecks(checks, deadlineMs, () => 0);

describe('the checks of the doctor', () => {
  it('[U02] run at the same time and keep their order', async () => {
    const second = Promise.withResolvers<void>();
    const first = async () => {
      await second.promise;
      return [ok('one')];
    };
    const release = async () => {
      second.resolve();
      return [ok('two', 'of several')];
    };
    const results = await run([
      { name: 'first', run: first },
      { name: 'second', run: release },
    ]);
    expect(results).toEqual([
      { check: 'first', status: 'ok', found: 'one', tookMs: 0 },
      { check: 'second', subject: 'of several', status: 'ok', found: 'two', tookMs: 0 },
    ]);
  });

  it('[U02] end at their deadline, with their own words or without', async () => {
    const results = await run(
      [
        {
          name: 'polite',
          run: (signal) =>
            new Promise((resolve) => {
              signal.addEventListener('abort', () => resolve([ok('gave up')]));
            }),
        },
        { name: 'deaf', run: () => new Promise(() => {}) },
      ],
      20,
    );
    expect(results.map(({ found }) => found)).toEqual(['gave up', 'no result within 0.02 s']);
  });

  it('[U02] take an error apart into what happened and what to do', async () => {
    const known = new ParleyError({ code: 'x', message: 'It broke. Fix it.', retryable: false });
    const results = await run([
      { name: 'known', run: () => Promise.reject(known) },
      { name: 'defect', run: () => Promise.reject(new TypeError('x is not a function')) },
    ]);
    expect(results).toMatchObject([
      { status: 'failed', found: 'It broke.', fix: 'Fix it.' },
      { status: 'failed', found: expect.stringContaining('x is not a function') },
    ]);
  });
});

describe('the clock of this machine', () => {
  const clock = (server: string, aheadMs: number) => ({ server, aheadMs });
  it.each([
    ['agrees with a server outside', [clock('api.telegram.org', 900)], 'ok'],
    ['is ahead', [clock('api.telegram.org', 20_000)], 'warning'],
    ['is far behind', [clock('api.telegram.org', -3_600_000)], 'failed'],
    ['is right where one of two says so', [clock('a.org', 90_000), clock('b.org', -100)], 'ok'],
    ['is unknown where only this machine agrees', [clock('127.0.0.1:1', 0)], 'skipped'],
    ['is judged by others', [clock('localhost:1', 0), clock('a.org', 90_000)], 'warning'],
    ['is unknown without an answer', [], 'skipped'],
  ])('[U02] %s', (_what, readings, status) => {
    expect(clockFindings(readings)).toMatchObject([{ status }]);
  });
});
