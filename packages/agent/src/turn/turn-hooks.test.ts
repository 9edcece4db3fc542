import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Audience, PromptPart } from '@parley/core';
import { afterEach, describe, expect, it } from 'vitest';
import { openTurnScene, type SceneOptions, type TurnScene } from '../testing/turn-scene.ts';
import type { TurnClosing, TurnHook, TurnOpening } from './turn-hooks.ts';

const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;
const part = (text: string, kind: 'owner' | 'everyone' = 'everyone'): PromptPart => ({
  text,
  source: 'a hook',
  audience: { kind },
});

let scene: TurnScene;
afterEach(() => scene.close());
async function open(extras: SceneOptions): Promise<TurnScene> {
  scene = await openTurnScene({}, extras);
  return scene;
}
const asked = () => JSON.stringify(scene.model.asked.at(-1));

describe('hooks before a turn', () => {
  it('[P16] add to the prompt in order, and receive the text that the model will receive', async () => {
    const seen: TurnOpening[] = [];
    const adding = (id: string): TurnHook => ({
      id,
      before: async (turn) => {
        seen.push(turn);
        return { system: [part(`rule of ${id}`)], userContext: [part(`fact of ${id}`)] };
      },
    });
    await open({ hooks: [adding('one'), { id: 'idle' }, adding('two')] });
    await scene.write('hello');
    await scene.answerNext();
    const { system, messages } = scene.model.asked[0] ?? { system: [], messages: [] };
    const rules = system.map(({ text }) => text).filter((text) => text.includes('rule of'));
    expect(rules).toEqual(['rule of one', 'rule of two']);
    expect(messages.at(-1)?.content).toMatch(/fact of one\n\nfact of two.*hello$/s);
    expect(seen).toMatchObject([{ text: 'hello', facts: { agent: { name: 'Polly' } } }, {}]);
  });

  it.each<[string, TurnHook['before']]>([
    ['throws', () => Promise.reject(new Error('a defect'))],
    ['adds more than a prompt can hold', async () => ({ system: [part('x'.repeat(70_000))] })],
    [
      'throws synchronously',
      () => {
        throw new Error('a defect');
      },
    ],
    ['never ends', () => new Promise(() => {})],
    ['returns a part without an audience', async () => JSON.parse('{"system":[{"text":"x"}]}')],
    ['returns nothing at all', async () => JSON.parse('null')],
  ])(
    '[P16] are left out and logged if one %s, and the person still gets an answer',
    async (_what, before) => {
      const good: TurnHook = { id: 'good', before: async () => ({ system: [part('a rule')] }) };
      await open({ hooks: [{ id: 'bad', ...(before !== undefined && { before }) }, good] });
      await scene.write('hello');
      await scene.answerNext();
      expect(await scene.owed()).toEqual(['fine']);
      expect(asked()).toContain('a rule');
      expect(scene.logged.filter((line) => line.startsWith('error'))).toEqual([
        expect.stringContaining('"hook":"bad"'),
      ]);
    },
  );

  it('[W09] see only the workspace files that they declare', async () => {
    const before: TurnHook['before'] = async ({ view }) => {
      const files = await Promise.all(['rules.md', 'notes.md'].map((name) => view.read(name)));
      return { system: files.flatMap((file) => (file.kind === 'file' ? [file] : [])) };
    };
    await open({ hooks: [{ id: 'nosy', reads: ['rules.md'], before }] });
    writeFileSync(join(scene.folder, 'rules.md'), 'Knit one.');
    writeFileSync(join(scene.folder, 'notes.md'), 'Purl two.');
    await scene.write('hello');
    await scene.answerNext();
    expect(asked()).toContain('Knit one.');
    expect(asked()).not.toContain('Purl two.');
    expect(scene.logged.join()).toContain('"part":"nosy","file":"notes.md"');
  });

  it('[W02] cannot bring the owner’s text into another chat', async () => {
    const additions = { system: [part('heron', 'owner')], userContext: [part('heron', 'owner')] };
    await open({ hooks: [{ id: 'leaky', before: async () => additions }] });
    await scene.write('hello', { chat: GROUP });
    await scene.answerNext('-9');
    expect(asked()).not.toContain('heron');
    await scene.write('hello');
    await scene.answerNext();
    expect(asked().match(/heron/g)).toHaveLength(2);
  });
});

describe('the last check before a request', () => {
  /** An assembler that checks nothing, as if all earlier checks had failed. */
  const careless = (audience: Audience): SceneOptions => ({
    prompt: {
      assemble: async () => ({
        layout: 'careless',
        system: [
          { ...part('Be kind.'), layer: 'soul', stable: true, tokens: 3 },
          { ...part('the heron nests here'), audience, layer: 'memory', stable: true, tokens: 5 },
        ],
        userContext: [{ ...part('heron again'), audience, layer: 'notes', tokens: 3 }],
        report: [],
      }),
    },
  });

  it.each<[string, Audience, boolean]>([
    ['the owner’s text', { kind: 'owner' }, false],
    ['text of another chat', { kind: 'conversation', conversationId: 'x' }, false],
    ['text of its own chat', { kind: 'conversation', conversationId: '-9' }, true],
  ])(
    '[W02] decides whether a group may see %s, and logs withheld parts',
    async (_whose, audience, shown) => {
      await open(careless(audience));
      await scene.write('hello', { chat: GROUP });
      await scene.answerNext('-9');
      expect(asked()).toContain('Be kind.');
      expect(asked().includes('heron')).toBe(shown);
      expect(scene.logged.filter((line) => line.startsWith('error'))).toHaveLength(shown ? 0 : 2);
      expect(scene.logged.join()).not.toContain('heron');
    },
  );
});

describe('hooks after a turn', () => {
  const closings: TurnClosing[] = [];
  const hooks: readonly TurnHook[] = [
    { id: 'bad', after: () => Promise.reject(new Error('a defect')) },
    { id: 'slow', after: () => new Promise(() => {}) },
    { id: 'good', after: async (turn) => void closings.push(turn) },
  ];
  afterEach(() => void closings.splice(0));

  it('[P16] run once after the commit with the outcome; a failing hook does no harm', async () => {
    await open({ hooks });
    await scene.write('hello');
    scene.model.next({ say: 'Hello **Ada**' });
    await scene.answerNext();
    expect(closings).toMatchObject([
      { text: 'hello', answer: 'Hello **Ada**', outcome: 'answered', reader: { kind: 'owner' } },
    ]);
    expect(scene.woken).toHaveLength(1);
    expect(scene.logged.filter((line) => line.startsWith('error'))).toHaveLength(2);
  });

  it('[P16] receive a failure', async () => {
    await open({ hooks });
    await scene.write('hello');
    scene.model.next({ fail: { kind: 'overloaded' } });
    await scene.answerNext();
    expect(closings).toMatchObject([{ answer: '', outcome: 'failed' }]);
  });

  it('[P16] run once for a run that was committed, and never for one that was not', async () => {
    await open({ hooks });
    await scene.write('hello');
    const { lanes } = scene.store;
    const started = await scene.begin();
    Object.assign(scene.store, {
      lanes: { ...lanes, commit: () => Promise.reject(new Error('killed')) },
    });
    await expect(scene.run(started)).rejects.toThrow('killed');
    Object.assign(scene.store, { lanes });
    expect(closings).toEqual([]);
    await lanes.release(started.lease);
    await scene.answerNext();
    expect(closings).toHaveLength(1);
  });

  it('[P16] do not run twice for a committed turn', async () => {
    await open({ hooks });
    await scene.write('hello');
    const started = await scene.begin();
    await scene.run(started);
    await scene.run(started);
    expect(closings).toHaveLength(1);
  });

  it('[P16] do not run for a stopped turn', async () => {
    await open({ hooks });
    await scene.write('hello');
    const stop = new AbortController();
    scene.model.next({ say: 'late', afterMs: 60_000 });
    const running = scene.run(await scene.begin(), stop.signal);
    stop.abort('stopped');
    await running;
    expect(closings).toEqual([]);
  });
});
