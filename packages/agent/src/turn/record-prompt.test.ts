import { createRecordingLogger } from '@parley/core/testing';
import type { AssembledPrompt, PromptAssembler } from '@parley/prompt';
import type { PromptRepository } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import { describe, expect, it } from 'vitest';
import { createCountingTool } from '../testing/tool-scene.ts';
import { createAgent, openTurnScene, type SceneOptions } from '../testing/turn-scene.ts';
import { recordPrompt } from './record-prompt.ts';
import { CHAT, startTurn } from './turn.ts';
import type { TurnHook } from './turn-hooks.ts';

const SECRET = 'the launch code is 4711';
const GROUP = { chat: { id: 'g', type: 'group', title: 'Crew' } } as const;
const PRIVATE = { text: SECRET, source: 'MEMORY.md', audience: { kind: 'owner' } } as const;
const EVERYONE = { kind: 'everyone' } as const;

const chatty: TurnHook = {
  id: 'chatty',
  before: async () => ({
    system: [{ text: 'Rhyme.', source: 'chatty', audience: EVERYONE }, PRIVATE],
  }),
};

/** An assembler without the audience check. */
const careless: PromptAssembler = {
  async assemble() {
    const line = { layer: 'memory', placement: 'system', source: 'MEMORY.md' } as const;
    const { audience } = PRIVATE;
    return {
      layout: 'careless',
      system: [
        {
          layer: 'identity',
          stable: true,
          tokens: 4,
          text: 'You are Polly.',
          source: 'x',
          audience: EVERYONE,
        },
        { layer: 'memory', stable: true, tokens: 3, ...PRIVATE },
      ],
      userContext: [],
      report: [{ ...line, audience, outcome: 'present', characters: 9, tokens: 3, cut: null }],
    };
  },
};

async function recorded(extras: SceneOptions) {
  const scene = await openTurnScene({}, extras);
  try {
    await scene.write('what is up?', GROUP);
    await scene.answerNext('g');
    const [summary] = await scene.store.prompts.list({ limit: 5 });
    const prompt = await scene.store.prompts.ofTurn(summary?.turnId ?? '');
    if (prompt === null) throw new Error('nothing was recorded');
    const [request] = scene.model.asked;
    return { prompt, request };
  } finally {
    await scene.close();
  }
}

describe('the recorded prompt of a turn', () => {
  it('[P17] contains exactly the text that the model was given', async () => {
    const { prompt, request } = await recorded({});
    const system = prompt.parts.filter(({ placement }) => placement === 'system');
    expect(system.map(({ text }) => text)).toEqual(request?.system.map(({ text }) => text));
    const user = prompt.parts.filter(({ placement }) => placement === 'user');
    const asked = request?.messages.at(-1)?.content ?? '';
    expect(asked.startsWith(user.map(({ text }) => text).join('\n\n'))).toBe(true);
    expect(prompt.messages).toMatchObject([{ role: 'user', characters: asked.length }]);
    expect(prompt).toMatchObject({ model: 'test/model', layout: 'parley' });
    expect(prompt.place).toMatchObject({ chatId: 'g', chatType: 'group', title: 'Crew' });
  });

  it('[P17] counts the whole request: tools, system prompt, context, history and message', async () => {
    const scene = await openTurnScene({}, { tools: [createCountingTool('plain').tool] });
    await scene.write('what is up?');
    await scene.answerNext();
    await scene.write('and now?');
    await scene.answerNext();
    const [summary] = await scene.store.prompts.list({ limit: 1 });
    const prompt = await scene.store.prompts.ofTurn(summary?.turnId ?? '');
    const { system = [], messages = [], tools = [] } = scene.model.asked.at(-1) ?? {};
    const definitions = tools.map((tool) => JSON.stringify(tool)).join('\n');
    const texts = [...system.map(({ text }) => text), ...messages.map(({ content }) => content)];
    expect(prompt?.sections.map(({ name, count }) => [name, count])).toEqual([
      ['tools', 1],
      ['system', system.length],
      ['context', prompt?.parts.filter(({ placement }) => placement === 'user').length],
      ['history', 2],
      ['message', 1],
    ]);
    const characters = [definitions, ...texts].join('').length;
    expect(prompt).toMatchObject({ tools: ['plain'], characters });
    expect(summary).toMatchObject({ characters, tokens: prompt?.tokens });
    const tokens = [definitions, ...texts].reduce((sum, text) => sum + estimateTokens(text), 0);
    expect(prompt?.tokens).toBe(tokens);
    expect(prompt?.parts.find(({ placement }) => placement === 'tools')).toMatchObject({
      text: definitions,
      source: '1 tool',
      audience: { kind: 'owner' },
    });
    await scene.close();
  });

  it.each<[string, SceneOptions]>([
    ['a hook offered', { hooks: [chatty] }],
    ['an assembler let through', { prompt: careless }],
  ])('[P17] [W02] never contains private text that %s', async (_who, extras) => {
    const { prompt, request } = await recorded(extras);
    expect(JSON.stringify(request)).not.toContain('4711');
    expect(JSON.stringify(prompt)).not.toContain('4711');
    expect(prompt.unsent.filter(({ outcome }) => outcome === 'withheld')).toMatchObject([
      { source: 'MEMORY.md', audience: { kind: 'owner' } },
    ]);
  });

  it('[P17] includes the text that a hook added outside the layers', async () => {
    const { prompt } = await recorded({ hooks: [chatty] });
    expect(prompt.parts.some(({ text }) => text === 'Rhyme.')).toBe(true);
  });

  it.each<[string, PromptRepository['record']]>([
    ['is refused', () => Promise.reject(new Error('the disk is full'))],
    [
      'throws synchronously',
      () => {
        throw new Error('the disk is full');
      },
    ],
  ])(
    '[P17] does not affect the answer if it %s, and the failure is logged',
    async (_how, record) => {
      const scene = await openTurnScene();
      await scene.write('hello');
      const { turn: claimed } = await scene.begin();
      const place = { agent: createAgent('/w', 'UTC'), owners: [] };
      const turn = startTurn(claimed, CHAT, place, 0);
      const { log, lines } = createRecordingLogger();
      const prompt: AssembledPrompt = { layout: 'x', system: [], userContext: [], report: [] };
      const deps = { prompts: { record }, model: { id: 'm' }, clock: () => 0, log };
      const reader = { kind: 'owner', conversationId: 'c' } as const;
      recordPrompt(deps, turn, { prompt, request: { messages: [] }, reader });
      await expect.poll(() => lines.join()).toContain('the disk is full');
      expect(lines.join()).toContain('a prompt could not be recorded');
      await scene.close();
    },
  );
});
