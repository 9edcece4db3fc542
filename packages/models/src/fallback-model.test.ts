import { silentLogger } from '@parley/contracts';
import { describe, expect, it } from 'vitest';
import type { ChatModel, ModelEvent } from './chat-model.ts';
import { brokenModel, drain, fakeModel } from './fake-model.ts';
import { fallbackModel } from './fallback-model.ts';

const good = fakeModel('b/good', 'hello');
const withFallback = (first: ChatModel, ...others: ChatModel[]) =>
  fallbackModel(first, others, silentLogger);

describe('a model with fallbacks', () => {
  it.each([
    'unreachable',
    'unauthorised',
    'not-found',
    'overloaded',
    'rubbish',
    'empty',
    'no-credit',
  ] as const)('[G01] asks the next one after a failure of kind %s', async (kind) => {
    const events: ModelEvent[] = [];
    const model = withFallback(brokenModel('a/bad', { kind }), good);
    expect(await drain(model, undefined, events)).toBe('hello');
    expect(events.at(-1)).toMatchObject({ type: 'finish', model: 'b/good' });
  });

  it('[G01] does not ask the next one once a word was said, so nothing is said twice', async () => {
    const events: ModelEvent[] = [];
    const model = withFallback(
      brokenModel('a/bad', { kind: 'broken-off' }, { first: 'Hel' }),
      good,
    );
    await expect(drain(model, undefined, events)).rejects.toMatchObject({ model: 'a/bad' });
    expect(events).toEqual([{ type: 'text', text: 'Hel' }]);
  });

  it('[G01] does not ask the next one when the call was stopped', async () => {
    const model = withFallback(brokenModel('a/bad', { kind: 'aborted' }), good);
    await expect(drain(model, AbortSignal.abort())).rejects.toMatchObject({
      code: 'model-aborted',
    });
  });

  it('[G01] tells of all when all fail, and may be retried when one of them may', async () => {
    const model = withFallback(
      brokenModel('a/key', { kind: 'unauthorised' }),
      brokenModel('b/busy', { kind: 'overloaded' }),
    );
    await expect(drain(model)).rejects.toMatchObject({
      message: 'a/key failed. b/busy failed.',
      code: 'model-overloaded',
      retryable: true,
    });
  });

  it('asks only the first one while it works', async () => {
    expect(await drain(withFallback(fakeModel('a/first', 'first'), good))).toBe('first');
  });
});
