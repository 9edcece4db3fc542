import { describe, expect, it } from 'vitest';
import type { ChatModel, ModelRequest } from './chat-model.ts';
import { fakeModel } from './fake-model.ts';
import { ModelError, type ModelFailure } from './model-error.ts';
import { seeingModel } from './seeing-model.ts';

const image = { mimeType: 'image/png', bytes: Uint8Array.of(1) } as const;
const withPicture: ModelRequest = {
  system: [],
  messages: [{ role: 'user', content: 'what is this?', images: [image] }],
};

/** Refuses whatever has pictures, and remembers all that it was asked. */
function blindServer(failure: ModelFailure, first = '') {
  const asked: ModelRequest[] = [];
  const model: ChatModel = {
    id: 'a/m',
    async *stream(request, signal) {
      asked.push(request);
      if (first !== '') yield { type: 'text', text: first };
      const pictures = request.messages.some((message) => 'images' in message);
      if (pictures) throw new ModelError(failure, 'a/m', 'No pictures, please.');
      yield* fakeModel('a/m', 'fine').stream(request, signal);
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

describe('a model and pictures', () => {
  it('[F10] is never sent any when the settings say that it cannot see, and is told so', async () => {
    const { model, asked } = blindServer({ kind: 'refused' });
    expect(await answer(seeingModel(model, false))).toBe('fine');
    const content = expect.stringMatching(/takes text only.*never guess.*what is this\?/s);
    expect(asked).toEqual([{ system: [], messages: [{ role: 'user', content }] }]);
  });

  it('[F10] is asked once more without them when its server refuses, and is told so', async () => {
    const { model, asked } = blindServer({ kind: 'refused' });
    expect(await answer(seeingModel(model, undefined))).toBe('fine');
    expect(asked).toHaveLength(2);
    expect(asked[0]).toBe(withPicture);
    expect(asked[1]?.messages[0]?.content).toMatch(/did not take them.*what is this\?/s);
  });

  it.each([
    ['it must be able to see', true, { kind: 'refused' }, ''],
    ['the failure has nothing to do with pictures', undefined, { kind: 'unauthorised' }, ''],
    ['it has begun to answer', undefined, { kind: 'overloaded' }, 'Well'],
  ] as const)('[F10] fails as it fails when %s', async (_case, vision, failure, first) => {
    const { model, asked } = blindServer(failure, first);
    await expect(answer(seeingModel(model, vision))).rejects.toMatchObject({ failure });
    expect(asked).toHaveLength(1);
  });

  it('[F10] is left alone when there are none', async () => {
    const { model, asked } = blindServer({ kind: 'refused' });
    const plain: ModelRequest = { system: [], messages: [{ role: 'user', content: 'hi' }] };
    expect(await answer(seeingModel(model, false), plain)).toBe('fine');
    expect(asked[0]).toBe(plain);
  });
});
