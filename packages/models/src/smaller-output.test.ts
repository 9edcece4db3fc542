import { describe, expect, it } from 'vitest';
import { type ChatModel, ModelError, type ModelFailure, type ModelRequest } from './chat-model.ts';
import { createWindowLearningModel } from './learned-window.ts';
import { createOutputLimitModel } from './smaller-output.ts';
import { createFakeModel } from './testing/fake-model.ts';

/**
 * A model that refuses answers longer than `limit` tokens; with `says` its error states the limit.
 */
function limited(
  limit: number,
  says: Partial<Extract<ModelFailure, { kind: 'output-limit' }>> = {},
) {
  const asked: (number | undefined)[] = [];
  const model: ChatModel = {
    id: 'p/m',
    async *stream(request, signal) {
      asked.push(request.maxOutputTokens);
      const wanted = request.maxOutputTokens ?? Number.POSITIVE_INFINITY;
      const failure = { kind: 'output-limit', limitTokens: null, ...says } as const;
      if (wanted > limit) throw new ModelError(failure, 'p/m', 'too large');
      yield* createFakeModel('p/m', 'an answer').stream(request, signal);
    },
  };
  return { model: createOutputLimitModel(model), asked };
}

async function ask(model: ChatModel, more: Partial<ModelRequest> = {}): Promise<void> {
  const request = { system: [], messages: [{ role: 'user', content: 'hi' } as const], ...more };
  for await (const _ of model.stream(request, new AbortController().signal));
}

describe('a model that allows only shorter answers', () => {
  it('[G21] is retried with the allowed length, which later requests use from the start', async () => {
    const { model, asked } = limited(4_096, { limitTokens: 4_096 });
    await ask(model);
    await ask(model, { maxOutputTokens: 8_000 });
    await ask(model, { maxOutputTokens: 100 });
    expect(asked).toEqual([undefined, 4_096, 4_096, 100]);
  });

  it('[G21] is retried with half the length if its error does not state the allowed length', async () => {
    const { model, asked } = limited(2_100);
    await ask(model);
    expect(asked).toEqual([undefined, 4_096, 2_048]);
  });

  it('[G21] does not remember the space that remained after one long request', async () => {
    const { model, asked } = limited(500, { limitTokens: 400, windowTokens: 4_096 });
    await ask(model, { maxOutputTokens: 1_000 });
    await ask(model, { maxOutputTokens: 450 });
    expect(asked).toEqual([1_000, 400, 450]);
  });

  it('[G21] is not retried forever', async () => {
    const { model, asked } = limited(1);
    await expect(ask(model)).rejects.toMatchObject({ code: 'model-output-limit' });
    expect(asked).toHaveLength(3);
  });
});

describe('the context window of a model', () => {
  it('[G21] is learned from the server’s errors, using the smallest number', async () => {
    const windows = [32_768, 8_192, 16_384, 100];
    const model = createWindowLearningModel({
      id: 'p/m',
      async *stream() {
        yield { type: 'text', text: '' };
        throw new ModelError(
          { kind: 'too-long', windowTokens: windows.shift() ?? 0 },
          'p/m',
          'too long',
        );
      },
    });
    const learned: unknown[] = [model.learnedTokens];
    for (let calls = 0; calls < 4; calls += 1) {
      await expect(ask(model)).rejects.toThrow('too long');
      learned.push(model.learnedTokens);
    }
    model.learnTokens?.(4_000);
    expect([...learned, model.learnedTokens]).toEqual([null, 32_768, 8_192, 8_192, 8_192, 4_000]);
  });
});
