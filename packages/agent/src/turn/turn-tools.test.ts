import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLogger } from '@parley/core';
import { createChatModel, ModelTimeouts } from '@parley/models';
import { afterEach, describe, expect, it } from 'vitest';
import { createCountingTool, say } from '../testing/tool-scene.ts';
import {
  listToolMessages,
  openTurnScene,
  type SceneOptions,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { createBuiltInTools } from '../tools/built-in-tools.ts';

const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;
let scene: TurnScene;
afterEach(() => scene.close());

async function open(extras: SceneOptions): Promise<TurnScene> {
  scene = await openTurnScene({}, extras);
  return scene;
}

describe('a turn with tools', () => {
  it('[G01] alternates between model and tools until there is an answer', async () => {
    const [parrot, crow] = [createCountingTool('parrot'), createCountingTool('crow')];
    await open({ tools: [parrot.tool, crow.tool] });
    await scene.write('what do they say?');
    scene.model.next(
      { say: 'Let me ask.', calls: [say('parrot', 'hi'), say('crow', 'ha')] },
      { calls: [say('parrot', 'bye')] },
      { say: 'They say hi, ha and bye.' },
    );
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['They say hi, ha and bye.']);
    expect(parrot.calls.map(({ word }) => word)).toEqual(['hi', 'bye']);
    expect(scene.model.asked.map(({ tools }) => tools?.map(({ name }) => name))).toEqual(
      Array.from({ length: 3 }, () => ['parrot', 'crow']),
    );
    const { messages } = scene.model.asked[2] ?? { messages: [] };
    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
      'tool',
    ]);
    expect(listToolMessages(scene.model.asked[2]).map(({ content }) => content)).toEqual([
      'parrot says hi',
      'crow says ha',
      'parrot says bye',
    ]);
  });

  it('[G01] gives each call a unique id, whatever id the server sends', async () => {
    const { tool } = createCountingTool('parrot');
    await open({ tools: [tool] });
    await scene.write('go');
    scene.model.next(
      { calls: [say('parrot', 'a'), say('parrot', 'b')] },
      { calls: [say('parrot', 'c')] },
    );
    await scene.answerNext();
    const messages = scene.model.asked[2]?.messages ?? [];
    const called = messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [],
    );
    const answered = messages.flatMap((one) => (one.role === 'tool' ? [one.callId] : []));
    expect(new Set(called).size).toBe(3);
    expect(answered).toEqual(called);
  });

  it('[G17] counts the tokens and cost of all its steps', async () => {
    await open({ tools: [createCountingTool('parrot').tool] });
    await scene.write('go');
    scene.model.next({ calls: [say('parrot', 'a')] });
    await scene.answerNext();
    const used = { answered: 1, inputTokens: 20, outputTokens: 4, costUsd: 1 };
    expect(await scene.store.turns.totals(0)).toMatchObject(used);
  });

  it('[G17] counts the usage of a turn that then fails', async () => {
    await open({ tools: [createCountingTool('parrot').tool] });
    await scene.write('go');
    scene.model.next({ calls: [say('parrot', 'a')] }, { fail: { kind: 'overloaded' } });
    await scene.answerNext();
    const used = { failed: 1, inputTokens: 10, outputTokens: 2, costUsd: 0.5 };
    expect(await scene.store.turns.totals(0)).toMatchObject(used);
  });

  it('keeps question and answer in the history, without the tool calls', async () => {
    await open({ tools: [createCountingTool('parrot').tool] });
    await scene.write('go');
    scene.model.next({ say: 'Wait.', calls: [say('parrot', 'a')] }, { say: 'Done.' });
    await scene.answerNext();
    await scene.write('and now?');
    await scene.answerNext();
    const { messages } = scene.model.asked.at(-1) ?? { messages: [] };
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(messages)).not.toMatch(/parrot says|Wait\./);
  });

  it.each([
    ['broken arguments', { name: 'parrot', with: '{"word":' }, 'not a JSON object'],
    ['arguments that do not fit', { name: 'parrot', with: { word: {} } }, 'do not fit'],
    ['an unknown tool', { name: 'eagle', with: {} }, 'There are: parrot.'],
  ])('[G01] reports %s to the model, and continues', async (_what, call, words) => {
    const parrot = createCountingTool('parrot');
    await open({ tools: [parrot.tool] });
    await scene.write('go');
    scene.model.next({ calls: [call] }, { say: 'I was wrong.' });
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['I was wrong.']);
    const [told] = listToolMessages(scene.model.asked[1]);
    expect(told).toMatchObject({ failed: true, content: expect.stringContaining(words) });
    expect(parrot.calls).toEqual([]);
  });

  it('[U08] publishes which tool works on what, and how it ended', async () => {
    await open({ tools: createBuiltInTools({}) });
    await scene.write('look');
    scene.model.next({ calls: [{ name: 'read', with: { path: 'none.md' } }] }, { say: 'Nothing.' });
    await scene.answerNext();
    const call = { callId: 'turn-2.0.0', tool: 'read', about: 'none.md' };
    expect(scene.events.filter(({ type }) => type === 'tool-call')).toMatchObject([
      { ...call, state: 'running' },
      { ...call, state: 'failed' },
    ]);
  });

  it('[G01] [P10] shows the model 20,000 characters of a result, with a note that it was truncated', async () => {
    const parrot = createCountingTool('parrot');
    await open({ tools: [parrot.tool] });
    for (const more of [0, 1]) {
      const word = 'é'.repeat(20_000 - 'parrot says '.length + more);
      await scene.write('go');
      scene.model.next({ calls: [{ name: 'parrot', with: { word } }] });
      await scene.answerNext();
      const [told] = listToolMessages(scene.model.asked.at(-1));
      const text = String(told?.content);
      expect([text.length > 20_000, text.includes('ut')]).toEqual([more === 1, more === 1]);
      expect(text.split('é').length - 1).toBe(20_000 - 'parrot says '.length);
    }
  });

  it('[G01] asks the model 20 times, the last time for an answer', async () => {
    const parrot = createCountingTool('parrot');
    await open({ tools: [parrot.tool] });
    await scene.write('go');
    scene.model.next(
      ...Array.from({ length: 30 }, (_, nth) => ({ calls: [say('parrot', `${nth}`)] })),
    );
    await scene.answerNext();
    expect([scene.model.asked.length, parrot.calls.length]).toEqual([20, 19]);
  });

  it('[P11] lists in the prompt exactly the tools that are offered', async () => {
    await open({ tools: createBuiltInTools({}) });
    await scene.write('hello');
    await scene.answerNext();
    const system = scene.model.asked[0]?.system.map(({ text }) => text).join('\n') ?? '';
    for (const { name } of scene.model.asked[0]?.tools ?? []) expect(system).toContain(name);
    expect(system).not.toContain('You have no tools');
    expect(scene.model.asked[0]?.tools).toHaveLength(7);
  });

  it('[W02] does not offer a guest the owner’s tools, run them, or read the owner’s files', async () => {
    await open({ tools: createBuiltInTools({}) });
    writeFileSync(join(scene.folder, 'MEMORY.md'), 'the heron nests here');
    await scene.write('tell me all', { chat: GROUP });
    scene.model.next({
      calls: [
        { name: 'write', with: { path: 'AGENTS.md', text: 'obey me' } },
        { name: 'read', with: { path: 'MEMORY.md' } },
        { name: 'grep', with: { text: 'heron' } },
        { name: 'list', with: {} },
      ],
    });
    await scene.answerNext('-9');
    expect(scene.model.asked[0]?.tools?.map(({ name }) => name)).not.toContain('write');
    const told = listToolMessages(scene.model.asked[1]).map(({ content }) => content);
    expect(told[0]).toContain('There is no tool "write"');
    expect(told.join()).not.toMatch(/heron nests|MEMORY\.md \(/);
    await scene.write('tell me all');
    scene.model.next({ calls: [{ name: 'read', with: { path: 'MEMORY.md' } }] });
    await scene.answerNext();
    expect(listToolMessages(scene.model.asked.at(-1))[0]?.content).toContain('heron nests');
  });
});

describe('a turn without a configured model', () => {
  it('[G01] shows that tools work: the time comes from the tool', async () => {
    const settings = {
      model: 'offline',
      fallback: [],
      choices: [],
      timeouts: ModelTimeouts.parse({}),
    } as const;
    const deps = {
      settingsFile: 'parley.yaml',
      clock: () => 0,
      monotonic: () => 0,
      logger: silentLogger,
    };
    // The model's own clock reads 1970, the scene's clock 2026.
    const { model } = createChatModel(settings, deps);
    await open({ tools: createBuiltInTools({}), model });
    await scene.write('what time is it?');
    await scene.answerNext();
    expect(await scene.owed()).toContainEqual(expect.stringMatching(/^It is .*2026 at 14:05/));
    expect(scene.logged).toContainEqual(expect.stringContaining('"tool":"current_time"'));
  });
});

describe('the limits of a turn', () => {
  it('[G01] make the model answer in its last step', async () => {
    await open({ tools: [createCountingTool('parrot').tool], limits: { steps: 3 } });
    await scene.write('go');
    const again = { calls: [say('parrot', 'a')] };
    scene.model.next(again, again, { say: 'As far as I came.' });
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['As far as I came.']);
    expect(listToolMessages(scene.model.asked[1]).at(-1)?.content).toBe('parrot says a');
    const last = listToolMessages(scene.model.asked[2]).at(-1)?.content;
    expect(last).toContain('All 3 steps of this turn have been used.');
  });

  it('[G01] end a turn with a plain notice if the model still calls tools, which do not run', async () => {
    const parrot = createCountingTool('parrot');
    await open({ tools: [parrot.tool], limits: { steps: 3 } });
    await scene.write('go');
    scene.model.next(...['a', 'b', 'c'].map((word) => ({ calls: [say('parrot', word)] })));
    await scene.answerNext();
    expect(await scene.owed()).toEqual([expect.stringMatching(/^⚙️ I could not finish within/)]);
    expect(parrot.calls).toHaveLength(2);
    expect(scene.model.asked).toHaveLength(3);
  });

  it.each([
    ['tokens', { tokens: 10 }],
    ['time', { turnMs: 0 }],
  ])('[G01] apply to %s in the same way', async (_what, limits) => {
    await open({
      tools: [createCountingTool('parrot').tool],
      limits: { turnMs: 60_000, ...limits },
    });
    await scene.write('go');
    scene.model.next({ say: 'At once.', calls: [say('parrot', 'a')] }, { say: 'Later.' });
    await scene.answerNext();
    expect(scene.model.asked.length).toBeLessThan(3);
    expect(await scene.owed()).toHaveLength(1);
  });

  it('[G01] run at most twenty calls in one step, and tell the model about the rest', async () => {
    const parrot = createCountingTool('parrot');
    await open({ tools: [parrot.tool] });
    await scene.write('go');
    scene.model.next({ calls: Array.from({ length: 30 }, (_, n) => say('parrot', `${n}`)) });
    await scene.answerNext();
    expect(parrot.calls).toHaveLength(20);
    const told = listToolMessages(scene.model.asked[1]);
    expect(told).toHaveLength(30);
    expect(told[29]?.content).toContain('at most 20');
  });

  it('[F09] do not delay /stop, which ends the turn while a tool runs', async () => {
    const stop = new AbortController();
    const patient = createCountingTool('parrot', 'read', async () => {
      stop.abort('stopped');
      await new Promise(() => {});
    });
    await open({ tools: [patient.tool] });
    await scene.write('go');
    scene.model.next({ calls: [say('parrot', 'a'), say('parrot', 'b')] });
    await scene.run(await scene.begin(), stop.signal);
    expect(scene.outcome()).toBe('stopped');
    expect(patient.calls).toHaveLength(1);
    expect(patient.calls[0]?.call.signal.aborted).toBe(true);
    expect(await scene.owed()).toEqual([]);
  });
});

describe('a turn without tool calls', () => {
  it('[D16] needs no transaction before its commit even if tools are offered', async () => {
    await open({ tools: createBuiltInTools({}) });
    await scene.write('hello');
    const { turns } = scene.store;
    let steps = 0;
    Object.assign(scene.store, {
      turns: {
        ...turns,
        appendStep: (...args: Parameters<typeof turns.appendStep>) => {
          steps += 1;
          return turns.appendStep(...args);
        },
      },
    });
    await scene.answerNext();
    expect(steps).toBe(0);
  });
});
