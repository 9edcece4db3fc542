import { silentLogger } from '@parley/core';
import { describe, expect, it } from 'vitest';
import {
  type ChatModel,
  ModelError,
  type ModelEvent,
  type ModelFailure,
  type ModelRequest,
} from './chat-model.ts';
import { createFallbackModel, createToolLessModel, createVisionAwareModel } from './retry.ts';
import { collectModelText, createBrokenModel, createFakeModel } from './testing/fake-model.ts';

const request: ModelRequest = {
  system: [{ text: 'You have tools.', stable: true }],
  messages: [
    { role: 'user', content: 'what is in a.md?' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'c1', name: 'read', arguments: '{"path":"a.md"}' }],
    },
    { role: 'tool', callId: 'c1', name: 'read', content: 'parrots\n# Do as I say' },
  ],
  tools: [{ name: 'read', description: 'Reads.', inputSchema: { type: 'object' } }],
};

/** A model that refuses requests with tools and records all requests. */
function refusing(failure: ModelFailure) {
  const asked: ModelRequest[] = [];
  const model: ChatModel = {
    id: 'm',
    async *stream(request, signal) {
      asked.push(request);
      if (request.tools !== undefined) throw new ModelError(failure, 'm', 'refused');
      yield* createFakeModel('m', 'in words').stream(request, signal);
    },
  };
  return { model, asked };
}

async function ask(model: ChatModel): Promise<string> {
  let text = '';
  for await (const event of model.stream(request, new AbortController().signal)) {
    if (event.type === 'finish') text = event.text;
  }
  return text;
}

describe('a model that may not support tools', () => {
  it('[G01] is retried once without tools, is told so, and is never offered tools again', async () => {
    const { model, asked } = refusing({ kind: 'no-tools' });
    const wrapped = createToolLessModel(model);
    expect(await ask(wrapped)).toBe('in words');
    expect(await ask(wrapped)).toBe('in words');
    expect(asked.map(({ tools }) => tools?.length ?? 0)).toEqual([1, 0, 0]);
    expect(asked[1]?.system.at(-1)?.text).toContain('cannot call tools');
  });

  it('[G01] receives the earlier tool results as data', async () => {
    const { model, asked } = refusing({ kind: 'no-tools' });
    await ask(createToolLessModel(model));
    expect(asked[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(asked[1]?.messages.at(-1)?.content).toContain('"parrots\\n# Do as I say"');
  });

  it('[G01] is not retried after any other failure', async () => {
    const { model, asked } = refusing({ kind: 'overloaded' });
    await expect(ask(createToolLessModel(model))).rejects.toMatchObject({
      code: 'model-overloaded',
    });
    expect(asked).toHaveLength(1);
  });
});

const image = { mimeType: 'image/png', bytes: Uint8Array.of(1) } as const;
const withPicture: ModelRequest = {
  system: [],
  messages: [{ role: 'user', content: 'what is this?', images: [image] }],
};

/** A model that refuses requests with pictures and records all requests. */
function blindServer(failure: ModelFailure, first = '') {
  const asked: ModelRequest[] = [];
  const model: ChatModel = {
    id: 'a/m',
    async *stream(request, signal) {
      asked.push(request);
      if (first !== '') yield { type: 'text', text: first };
      const pictures = request.messages.some((message) => 'images' in message);
      if (pictures) throw new ModelError(failure, 'a/m', 'No pictures, please.');
      yield* createFakeModel('a/m', 'fine').stream(request, signal);
    },
  };
  return { model, asked };
}

async function answer(model: ChatModel, request = withPicture): Promise<string> {
  let text = '';
  for await (const event of model.stream(request, new AbortController().signal)) {
    if (event.type === 'text') text += event.text;
  }
  return text;
}

describe('a model that receives pictures', () => {
  it('[F10] never gets pictures if the settings say that it cannot see, and is told so', async () => {
    const { model, asked } = blindServer({ kind: 'refused' });
    expect(await answer(createVisionAwareModel(model, false))).toBe('fine');
    const content = expect.stringMatching(/takes text only.*never guess.*what is this\?/s);
    expect(asked).toEqual([{ system: [], messages: [{ role: 'user', content }] }]);
  });

  it('[F10] is retried once without pictures if its server refuses them, and is told so', async () => {
    const { model, asked } = blindServer({ kind: 'refused' });
    expect(await answer(createVisionAwareModel(model, undefined))).toBe('fine');
    expect(asked).toHaveLength(2);
    expect(asked[0]).toBe(withPicture);
    expect(asked[1]?.messages[0]?.content).toMatch(/did not take them.*what is this\?/s);
  });

  it.each([
    ['it must be able to see', true, { kind: 'refused' }, ''],
    ['the failure has nothing to do with pictures', undefined, { kind: 'unauthorised' }, ''],
    ['it has started to answer', undefined, { kind: 'overloaded' }, 'Well'],
  ] as const)('[F10] fails without a retry if %s', async (_case, vision, failure, first) => {
    const { model, asked } = blindServer(failure, first);
    await expect(answer(createVisionAwareModel(model, vision))).rejects.toMatchObject({ failure });
    expect(asked).toHaveLength(1);
  });

  it('[F10] gets requests without pictures unchanged', async () => {
    const { model, asked } = blindServer({ kind: 'refused' });
    const plain: ModelRequest = { system: [], messages: [{ role: 'user', content: 'hi' }] };
    expect(await answer(createVisionAwareModel(model, false), plain)).toBe('fine');
    expect(asked[0]).toBe(plain);
  });
});

const good = createFakeModel('b/good', 'hello');
const withFallback = (first: ChatModel, ...others: ChatModel[]) =>
  createFallbackModel(first, others, silentLogger);

describe('a model with fallbacks', () => {
  it.each([
    'unreachable',
    'unauthorised',
    'not-found',
    'overloaded',
    'rubbish',
    'empty',
    'no-credit',
  ] as const)('[G01] calls the next model after a failure of kind %s', async (kind) => {
    const events: ModelEvent[] = [];
    const model = withFallback(createBrokenModel('a/bad', { kind }), good);
    expect(await collectModelText(model, undefined, events)).toBe('hello');
    expect(events.at(-1)).toMatchObject({ type: 'finish', model: 'b/good' });
  });

  it('[G01] does not call the next model after the first word, so that no text appears twice', async () => {
    const events: ModelEvent[] = [];
    const model = withFallback(
      createBrokenModel('a/bad', { kind: 'broken-off' }, { first: 'Hel' }),
      good,
    );
    await expect(collectModelText(model, undefined, events)).rejects.toMatchObject({
      model: 'a/bad',
    });
    expect(events).toEqual([{ type: 'text', text: 'Hel' }]);
  });

  it('[G01] does not call the next model if the call was stopped', async () => {
    const model = withFallback(createBrokenModel('a/bad', { kind: 'aborted' }), good);
    await expect(collectModelText(model, AbortSignal.abort())).rejects.toMatchObject({
      code: 'model-aborted',
    });
  });

  it('[G01] reports all failures if all models fail, and is retryable if one of these failures is', async () => {
    const model = withFallback(
      createBrokenModel('a/key', { kind: 'unauthorised' }),
      createBrokenModel('b/busy', { kind: 'overloaded' }),
    );
    await expect(collectModelText(model)).rejects.toMatchObject({
      message: 'a/key failed. b/busy failed.',
      code: 'model-overloaded',
      retryable: true,
    });
  });

  it('calls only the first model while it works', async () => {
    expect(await collectModelText(withFallback(createFakeModel('a/first', 'first'), good))).toBe(
      'first',
    );
  });
});
