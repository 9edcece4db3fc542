import { describe, expect, it } from 'vitest';
import { createAssembler } from './assembler.ts';
import type { PromptContext } from './layer.ts';
import { builtInLayers, createLayerRegistry } from './layout.ts';
import { layoutNamed } from './layouts.ts';
import { SCENES } from './testing/example-scenes.ts';
import { FACTS, TOOLS, viewOf } from './testing/example-turn.ts';

const assembler = createAssembler({
  layers: createLayerRegistry(builtInLayers()),
  layout: layoutNamed('parley'),
});

const FILES = {
  'AGENTS.md': 'Answer first, explain if it helps. '.repeat(40),
  'SOUL.md': 'Calm, curious, kind. '.repeat(30),
  'MEMORY.md': '- The shop is closed on Mondays.\n'.repeat(20),
};

/** The turn of a scene, and the next one a minute later with another message. */
function twoTurns(name: string): readonly [PromptContext, PromptContext] {
  const scene = SCENES[name];
  if (scene === undefined) throw new Error(`there is no scene "${name}"`);
  const view = viewOf(scene.context.reader, FILES);
  const first = {
    ...scene.context,
    tools: TOOLS,
    view,
    identity: { name: 'Mori' },
    groupContext: [],
  };
  const facts = { ...first.facts, time: '14:06', messageId: '9999' };
  const messages = first.messages.map((message) => ({ ...message, messageId: '9999' }));
  return [first, { ...first, facts, messages }];
}

async function textsOf(context: PromptContext): Promise<{ system: string; whole: string }> {
  const { system, userContext } = await assembler.assemble(context);
  const texts = system.map(({ text }) => text);
  const all = [...texts, ...userContext.map(({ text }) => text)];
  return { system: texts.join('\n\n'), whole: all.join('\n\n') };
}

describe('two turns a minute apart in layout parley', () => {
  it.each(['owner-direct', 'stranger-direct', 'discord-group', 'json-answer'])(
    '[P09] share at least 95 % of the prompt, byte for byte, from the start: %s',
    async (name) => {
      const [first, second] = await Promise.all(twoTurns(name).map(textsOf));
      const bytes = Buffer.from(first?.whole ?? '');
      const others = Buffer.from(second?.whole ?? '');
      const shared = bytes.findIndex((byte, index) => byte !== others[index]);
      expect(shared / Math.max(bytes.length, others.length)).toBeGreaterThanOrEqual(0.95);
      // So the provider can reuse all of it, and the talk that follows it.
      expect(second?.system).toBe(first?.system);
    },
  );

  it('[P09] share all of the system prompt although what was found for them differs', async () => {
    const [first] = twoTurns('owner-direct');
    const found = { text: 'other', source: 'memory', audience: { kind: 'everyone' } } as const;
    const second: PromptContext = {
      ...first,
      facts: { ...FACTS, date: first.facts.date, time: '14:06' },
      memories: [found],
      knowledge: [found],
      todos: [{ text: 'other', state: 'open' }],
      attachments: [],
    };
    expect((await textsOf(second)).system).toBe((await textsOf(first)).system);
  });
});
