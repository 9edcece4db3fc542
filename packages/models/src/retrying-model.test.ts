import { describe, expect, it } from 'vitest';
import { brokenModel, drain } from './fake-model.ts';
import type { ModelFailure } from './model-error.ts';
import { retryDelay, retryingModel } from './retrying-model.ts';

function setUp(failure: ModelFailure, options: { first?: string; times?: number } = { times: 1 }) {
  const waits: number[] = [];
  const model = retryingModel(brokenModel('a/m', failure, options), async (ms) => {
    waits.push(ms);
  });
  return { model, waits };
}

describe('asking a second time', () => {
  it.each([
    [{ kind: 'broken-off' }, 0],
    [{ kind: 'overloaded' }, 500],
    [{ kind: 'rate-limited', retryAfterMs: 1_000 }, 1_000],
    [{ kind: 'rate-limited', retryAfterMs: 20_000 }, null],
    [{ kind: 'rate-limited', retryAfterMs: null }, null],
    [{ kind: 'unreachable' }, null],
    [{ kind: 'unauthorised' }, null],
    [{ kind: 'timeout', phase: 'first-token' }, null],
  ] as const)('[G01] after %o: wait %s', (failure, delay) => {
    expect(retryDelay(failure)).toBe(delay);
  });

  it('[G01] helps over one short failure', async () => {
    const { model, waits } = setUp({ kind: 'overloaded' });
    expect(await drain(model)).toBe('works again');
    expect(waits).toEqual([500]);
  });

  it('[G01] happens once, not for ever', async () => {
    const { model, waits } = setUp({ kind: 'overloaded' }, { times: 2 });
    await expect(drain(model)).rejects.toMatchObject({ code: 'model-overloaded' });
    expect(waits).toHaveLength(1);
  });

  it('[G01] does not happen after the first word', async () => {
    const { model, waits } = setUp({ kind: 'broken-off' }, { first: 'Hel' });
    await expect(drain(model)).rejects.toMatchObject({ code: 'model-broken-off' });
    expect(waits).toEqual([]);
  });

  it('[G01] does not happen for a caller who has left', async () => {
    const { model, waits } = setUp({ kind: 'overloaded' });
    await expect(drain(model, AbortSignal.abort())).rejects.toThrow();
    expect(waits).toEqual([]);
  });
});
