import type { ChannelDefinition } from '@parley/channels';
import { EXAMPLE_FACTS } from '@parley/core/testing';
import {
  type ContextSource,
  createLayerRegistry,
  createPromptAssembler,
  listDeclaredReads,
  type PromptContext,
  type SourceTurn,
} from '@parley/prompt';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { guardChannel, guardLayer, guardSource } from './guard-parts.ts';
import { checkParts, type PluginLayer } from './plugin.ts';

const reader = { kind: 'guest', conversationId: 'c' } as const;
const view: SourceTurn['view'] = {
  reader,
  groupMemory: 'groups/c.md',
  read: async () => ({ kind: 'absent', reason: 'missing' }),
  list: async () => [],
  write: () => Promise.reject(new Error('nothing is written here')),
  change: () => Promise.reject(new Error('nothing is written here')),
  readBytes: async () => ({ kind: 'absent', reason: 'missing' }),
  plan: () => Promise.reject(new Error('nothing is written here')),
};
const context: PromptContext = {
  facts: EXAMPLE_FACTS,
  reader,
  view,
  identity: { name: 'Mori' },
  messages: [],
  clockMinutes: 10,
};
const turn: SourceTurn = {
  facts: EXAMPLE_FACTS,
  reader,
  view,
  messages: [],
  conversationId: 'c',
  session: 1,
};

/** Reports on a layer whose `render` was written without types. */
async function reportOf(render: unknown) {
  const written = { id: 'own', volatility: 'static', placement: 'system' } as const;
  const layer = guardLayer({ ...written, render: render as PluginLayer['render'] }, 20);
  const prompt = await createPromptAssembler({
    layers: createLayerRegistry([layer]),
    layout: { name: 'test', layers: [{ layer: 'own' }] },
  }).assemble(context);
  expect(prompt.system.some((part) => part.layer === 'safety')).toBe(true);
  return prompt.report.find((line) => line.layer === 'own');
}

const EVERYONE = { kind: 'everyone' };

describe('a plugin layer', () => {
  it('[P16] contributes the text that it returns', async () => {
    const part = { text: 'hello', source: 'own', audience: EVERYONE };
    expect(await reportOf(() => part)).toMatchObject({ outcome: 'present', characters: 5 });
    expect(await reportOf(async () => ({ absent: 'no' }))).toMatchObject({ outcome: 'absent' });
  });

  it.each<[string, unknown]>([
    ['throws', () => fail('boom')],
    ['rejects', async () => fail('boom')],
    ['hangs', () => new Promise(() => {})],
    ['returns nothing', () => undefined],
    ['returns a bare text', () => 'hello'],
    ['forgets the audience', () => ({ text: 'hello', source: 'own' })],
    ['invents an audience', () => ({ text: 'a', source: 'b', audience: { kind: 'friends' } })],
    ['says a number', () => ({ text: 5, source: 'own', audience: EVERYONE })],
  ])('[P16] that %s is left out, and the prompt is assembled without it', async (_what, render) => {
    expect(await reportOf(render)).toMatchObject({ outcome: 'failed' });
  });

  it('[W09] can read only the files that it declares', async () => {
    const asked: string[] = [];
    const layer = guardLayer({
      ...{ id: 'own', volatility: 'static', placement: 'system', reads: ['rules.md'] },
      async render({ view: own }) {
        for (const name of ['rules.md', 'notes.md']) await own.read(name);
        return { absent: 'no' };
      },
    });
    const layers = createLayerRegistry([layer]);
    const layout = { name: 'test', layers: [{ layer: 'own' }] };
    const read: typeof view.read = async (name) => {
      asked.push(name);
      return { kind: 'absent', reason: 'missing' };
    };
    const recording = { ...context, view: { ...view, read } };
    await createPromptAssembler({ layers, layout }).assemble(recording);
    expect(asked).toEqual(['rules.md']);
    expect(listDeclaredReads(layers, layout)).toEqual(['rules.md']);
  });

  it('[W02] cannot show a guest content that belongs to the owner', async () => {
    const part = { text: 'canary', source: 'own', audience: { kind: 'owner' } };
    expect(await reportOf(() => part)).toMatchObject({ outcome: 'withheld' });
  });
});

describe('a plugin source', () => {
  const gathered = (gather: unknown) =>
    guardSource({ id: 'own', gather: gather as ContextSource['gather'] }, 20).gather(turn);

  it('[P16] contributes the fields that it gathers', async () => {
    expect(await gathered(async () => ({ replyTags: true }))).toEqual({ replyTags: true });
  });

  it.each<[string, unknown]>([
    ['throws', () => fail('boom')],
    ['hangs', () => new Promise(() => {})],
    ['returns nothing', async () => undefined],
    ['returns a list', async () => []],
  ])('[P16] that %s is rejected and left out', async (_what, gather) => {
    await expect(gathered(gather)).rejects.toThrow();
  });
});

describe('a plugin channel', () => {
  const definition = (load: unknown): ChannelDefinition => ({
    id: 'own',
    settings: z.unknown(),
    answersStrangers: false,
    load: load as ChannelDefinition['load'],
  });

  it('[P16] is passed on unchanged', async () => {
    const open = () => fail('not opened here');
    const guarded = guardChannel(definition(async () => open));
    expect(guarded).toMatchObject({ id: 'own', answersStrangers: false });
    expect(await guarded.load()).toBe(open);
  });

  it.each(['beat', 'sub'])('[F14] must not have an id that other lanes begin with: %s', (id) => {
    const channel = { ...definition(async () => fail), id };
    expect(() => checkParts({ channels: [channel] })).toThrow(/channels\[0\]\.id: is taken/);
    expect(checkParts({ channels: [{ ...channel, id: `${id}s` }] }).channels).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['throws', () => fail('boom')],
    ['hangs', () => new Promise(() => {})],
  ])('[P16] that %s when it is loaded does not delay the others', async (_what, load) => {
    await expect(guardChannel(definition(load), 20).load()).rejects.toThrow();
  });
});

function fail(reason: string): never {
  throw new Error(reason);
}
