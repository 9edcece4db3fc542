import { describe, expect, it } from 'vitest';
import { createPromptAssembler } from './assembler.ts';
import type { PromptContext } from './layer.ts';
import { createBuiltInLayers, createLayerRegistry } from './layout.ts';
import { BUILT_IN_LAYOUTS, getLayout } from './layouts.ts';
import { SCENES } from './testing/example-scenes.ts';
import { createView, EXAMPLE_FACTS, TOOLS } from './testing/example-turn.ts';

const layers = createLayerRegistry(createBuiltInLayers());

const FILES = {
  'AGENTS.md': 'Answer first, explain if it helps. '.repeat(40),
  'SOUL.md': 'Calm, curious, kind. '.repeat(30),
  'MEMORY.md': '- The shop is closed on Mondays.\n'.repeat(20),
};

/** A scene's turn at 14:00, and the next turn at `later` with another message. */
function twoTurns(name: string, later: string): readonly [PromptContext, PromptContext] {
  const scene = SCENES[name];
  if (scene === undefined) throw new Error(`there is no scene "${name}"`);
  const view = createView(scene.context.reader, FILES);
  const first = {
    ...scene.context,
    facts: { ...scene.context.facts, time: '14:00' },
    clockMinutes: 10,
    tools: TOOLS,
    view,
    identity: { name: 'Mori' },
    groupContext: [],
  };
  const facts = { ...first.facts, time: later, messageId: '9999' };
  const messages = first.messages.map((message) => ({ ...message, messageId: '9999' }));
  return [first, { ...first, facts, messages }];
}

async function textsOf(context: PromptContext, layout = 'parley') {
  const assembler = createPromptAssembler({ layers, layout: getLayout(layout) });
  const { system, userContext } = await assembler.assemble(context);
  const texts = system.map(({ text }) => text);
  const all = [...texts, ...userContext.map(({ text }) => text)];
  return { system: texts.join('\n\n'), whole: all.join('\n\n') };
}

/** The length of the common prefix, as a share of the bytes in the longer text. */
function sharedPart(one: string, other: string): number {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)];
  const shared = bytes.findIndex((byte, index) => byte !== others[index]);
  return (shared === -1 ? bytes.length : shared) / Math.max(bytes.length, others.length);
}

const SCENE_NAMES = ['owner-direct', 'stranger-direct', 'discord-group', 'json-answer'];

describe('two turns nine minutes apart', () => {
  it.each(
    BUILT_IN_LAYOUTS.flatMap(({ name }) => SCENE_NAMES.map((scene) => [name, scene] as const)),
  )(
    '[P04] [P06] [P09] have the same system prompt in the %s layout, byte for byte: %s',
    async (layout, scene) => {
      const [first, second] = await Promise.all(
        twoTurns(scene, '14:09').map((turn) => textsOf(turn, layout)),
      );
      // The provider can therefore reuse the whole system prompt, and the conversation after it.
      expect(second?.system).toBe(first?.system);
    },
  );

  it('[P09] share at least 95 % of the prompt in the parley layout', async () => {
    for (const scene of SCENE_NAMES) {
      const [first, second] = await Promise.all(
        twoTurns(scene, '14:09').map((turn) => textsOf(turn)),
      );
      expect(sharedPart(first?.whole ?? '', second?.whole ?? '')).toBeGreaterThanOrEqual(0.95);
    }
  });

  it.each(['mushroom', 'zeus'])(
    '[P04] [P06] show another time in the %s layout once ten minutes have passed',
    async (layout) => {
      const [first, second] = await Promise.all(
        twoTurns('owner-direct', '14:10').map((turn) => textsOf(turn, layout)),
      );
      expect(first?.system).toContain('14:00');
      expect(second?.system.replace('14:10', '14:00')).toBe(first?.system);
    },
  );

  it('[P09] share the whole system prompt even if different memories and notes were found for them', async () => {
    const [first] = twoTurns('owner-direct', '14:09');
    const found = { text: 'other', source: 'memory', audience: { kind: 'everyone' } } as const;
    const second: PromptContext = {
      ...first,
      facts: { ...EXAMPLE_FACTS, date: first.facts.date, time: '14:06' },
      memories: [found],
      knowledge: [found],
      todos: [{ text: 'other', state: 'open' }],
      attachments: [],
    };
    expect((await textsOf(second)).system).toBe((await textsOf(first)).system);
  });
});
