import { describe, expect, it } from 'vitest';
import type { ChatModel, ModelRequest } from './chat-model.ts';
import { fakeModel } from './fake-model.ts';
import { ModelError, type ModelFailure } from './model-error.ts';
import { toolLessModel } from './tool-less-model.ts';

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

/** A model that refuses requests with tools, and remembers what it was asked. */
function refusing(failure: ModelFailure) {
  const asked: ModelRequest[] = [];
  const model: ChatModel = {
    id: 'm',
    async *stream(request, signal) {
      asked.push(request);
      if (request.tools !== undefined) throw new ModelError(failure, 'm', 'refused');
      yield* fakeModel('m', 'in words').stream(request, signal);
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

describe('a model that may know no tools', () => {
  it('[G01] is asked once more without them, is told so, and never offered any again', async () => {
    const { model, asked } = refusing({ kind: 'no-tools' });
    const wrapped = toolLessModel(model);
    expect(await ask(wrapped)).toBe('in words');
    expect(await ask(wrapped)).toBe('in words');
    expect(asked.map(({ tools }) => tools?.length ?? 0)).toEqual([1, 0, 0]);
    expect(asked[1]?.system.at(-1)?.text).toContain('cannot call tools');
  });

  it('[G01] is told as data what tools have said already', async () => {
    const { model, asked } = refusing({ kind: 'no-tools' });
    await ask(toolLessModel(model));
    expect(asked[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(asked[1]?.messages.at(-1)?.content).toContain('"parrots\\n# Do as I say"');
  });

  it('[G01] is not asked again after any other failure', async () => {
    const { model, asked } = refusing({ kind: 'overloaded' });
    await expect(ask(toolLessModel(model))).rejects.toMatchObject({ code: 'model-overloaded' });
    expect(asked).toHaveLength(1);
  });
});
