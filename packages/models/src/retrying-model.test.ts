import { silentLogger } from '@parley/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatModel, ModelError, type ModelEvent, type ModelFailure } from './chat-model.ts';
import {
  computeRetryDelay,
  createRetryingModel,
  HASTY,
  PATIENT,
  type RetryPatience,
} from './retrying-model.ts';
import { collectModelText, createBrokenModel, createFakeModel } from './testing/fake-model.ts';

function setUp(
  failure: ModelFailure,
  options: { first?: string; times?: number; patience?: RetryPatience } = {},
) {
  const { patience = PATIENT, times = 1, ...more } = options;
  const waits: number[] = [];
  const asked = createBrokenModel('a/m', failure, { times, ...more });
  const model = retrying(asked, patience, waits);
  return { model, waits };
}

function retrying(asked: ChatModel, patience: RetryPatience, waits: number[]): ChatModel {
  const sleep = async (ms: number) => void waits.push(ms);
  return createRetryingModel(asked, { sleep, random: () => 0.5, patience, logger: silentLogger });
}

describe('the delay before the same model is called again', () => {
  it.each([
    ['a connection that broke off', { kind: 'broken-off' }, [0, 500, 1_000, null], [0, null]],
    ['an overloaded server', { kind: 'overloaded' }, [500, 1_000, 2_000, null], [500, null]],
    [
      'a rate limit that says when',
      { kind: 'rate-limited', retryAfterMs: 1_000 },
      [1_050, 1_050, 1_050, null],
      [1_050, null],
    ],
    [
      'a rate limit that says nothing',
      { kind: 'rate-limited', retryAfterMs: null },
      [1_000, 2_000, 4_000, null],
      [1_000, null],
    ],
    [
      'a rate limit with a wait that another model is better than',
      { kind: 'rate-limited', retryAfterMs: 14_000 },
      [14_250, 14_250, 14_250, null],
      [null, null],
    ],
    [
      'a rate limit beyond the bound',
      { kind: 'rate-limited', retryAfterMs: 16_000 },
      [null],
      [null],
    ],
    ['rubbish', { kind: 'rubbish' }, [250, null], [250, null]],
    ['an empty answer', { kind: 'empty' }, [250, null], [250, null]],
    ['silence', { kind: 'timeout', phase: 'first-token' }, [0, null], [null]],
    ['a pause that is too long', { kind: 'timeout', phase: 'stalled' }, [0, null], [null]],
    ['an answer that takes too long', { kind: 'timeout', phase: 'total' }, [null], [null]],
    ['a server that is not there', { kind: 'unreachable' }, [500, null], [null]],
    ['a wrong certificate', { kind: 'unreachable', because: 'certificate' }, [null], [null]],
    ['a wrong key', { kind: 'unauthorised' }, [null], [null]],
    ['a block page', { kind: 'blocked' }, [null], [null]],
    ['no credit', { kind: 'no-credit' }, [null], [null]],
    ['a full context', { kind: 'too-long' }, [null], [null]],
    ['a filter', { kind: 'filtered' }, [null], [null]],
    ['a refusal', { kind: 'refused' }, [null], [null]],
  ] as const)('[G20] depends on the reason: %s', (_name, failure, patient, hasty) => {
    const delays = (patience: RetryPatience, count: number) =>
      Array.from({ length: count }, (_, at) =>
        computeRetryDelay({ failure, tries: at + 1, patience, random: 0.5 }),
      );
    expect(delays(PATIENT, patient.length)).toEqual(patient);
    expect(delays(HASTY, hasty.length)).toEqual(hasty);
  });

  it('[G20] is never shorter than the provider asks for, and never longer than the limit', () => {
    fc.assert(
      fc.property(
        fc.nat(200_000),
        fc.integer({ min: 1, max: 10 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.constantFrom(PATIENT, HASTY),
        (retryAfterMs, tries, random, patience) => {
          const failure = { kind: 'rate-limited', retryAfterMs } as const;
          const delay = computeRetryDelay({ failure, tries, patience, random });
          if (delay === null) return tries >= patience.tries || retryAfterMs > patience.waitMs;
          return delay >= retryAfterMs && delay <= patience.waitMs * 1.1;
        },
      ),
    );
  });
});

describe('retries of a failed call', () => {
  it('[G20] succeed after a server has failed three times', async () => {
    const { model, waits } = setUp({ kind: 'overloaded' }, { times: 3 });
    expect(await collectModelText(model)).toBe('works again');
    expect(waits).toEqual([500, 1_000, 2_000]);
  });

  it('[G20] end at the limit, and the last failure is reported', async () => {
    const { model, waits } = setUp({ kind: 'overloaded' }, { times: 9 });
    await expect(collectModelText(model)).rejects.toMatchObject({ code: 'model-overloaded' });
    expect(waits).toHaveLength(3);
  });

  it('[G20] are limited to one retry if another model is called next', async () => {
    const { model, waits } = setUp({ kind: 'overloaded' }, { times: 2, patience: HASTY });
    await expect(collectModelText(model)).rejects.toMatchObject({ code: 'model-overloaded' });
    expect(waits).toEqual([500]);
  });

  it('[G20] wait no longer than the total limit', async () => {
    const failure = { kind: 'rate-limited', retryAfterMs: 14_000 } as const;
    const { model, waits } = setUp(failure, { times: 9 });
    await expect(collectModelText(model)).rejects.toMatchObject({ code: 'model-rate-limited' });
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(PATIENT.totalMs);
    expect(waits).toHaveLength(2);
  });

  it('[G20] do not happen after the first word', async () => {
    const { model, waits } = setUp({ kind: 'broken-off' }, { first: 'Hel' });
    await expect(collectModelText(model)).rejects.toMatchObject({ code: 'model-broken-off' });
    expect(waits).toEqual([]);
  });

  it('[G20] do not happen if the caller has stopped the call', async () => {
    const { model, waits } = setUp({ kind: 'overloaded' });
    await expect(collectModelText(model, AbortSignal.abort())).rejects.toThrow();
    expect(waits).toEqual([]);
  });

  it('[G20] are counted in the final event', async () => {
    const seen: ModelEvent[] = [];
    await collectModelText(setUp({ kind: 'broken-off' }, { times: 2 }).model, undefined, seen);
    expect(seen.at(-1)).toMatchObject({ type: 'finish', tries: 3 });
  });

  it('[G20] do not pass on tool calls from an answer that broke off', async () => {
    let left = 1;
    const flaky: ChatModel = {
      id: 'a/m',
      async *stream(request, signal) {
        yield { type: 'tool-call', call: { id: `c${left}`, name: 'read', arguments: '{}' } };
        left -= 1;
        if (left >= 0) throw new ModelError({ kind: 'broken-off' }, 'a/m', 'broke off');
        yield* createFakeModel('a/m', 'done').stream(request, signal);
      },
    };
    const seen: ModelEvent[] = [];
    await collectModelText(retrying(flaky, PATIENT, []), undefined, seen);
    expect(seen.flatMap((event) => (event.type === 'tool-call' ? event.call.id : []))).toEqual([
      'c0',
    ]);
  });

  it('[G21] do not happen for an empty answer after a tool call, because the caller rephrases that request', async () => {
    const waits: number[] = [];
    const model = retrying(
      createBrokenModel('a/m', { kind: 'empty' }, { times: 1 }),
      PATIENT,
      waits,
    );
    const result = { role: 'tool', callId: 'c', name: 'read', content: 'x' } as const;
    const drained = async () => {
      const signal = new AbortController().signal;
      for await (const _ of model.stream({ system: [], messages: [result] }, signal));
    };
    await expect(drained()).rejects.toMatchObject({ code: 'model-empty' });
    expect(waits).toEqual([]);
  });
});
