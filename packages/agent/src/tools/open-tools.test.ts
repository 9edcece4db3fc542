import { OPEN_TOOLS } from '@parley/prompt';
import { readHere } from '@parley/tools/testing/read-here';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createCountingTool, say } from '../testing/tool-scene.ts';
import {
  openTurnScene,
  type SceneOptions,
  type ScriptStep,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { createReadDocumentTool } from './read-document.ts';
import type { Tool } from './tool.ts';
import { createToolRegistry, type ToolRegistryOptions } from './tool-registry.ts';
import { listToolsInMode, removeTools } from './tool-set.ts';

const OWNER = { kind: 'owner', conversationId: 'c' } as const;
const GUEST = { kind: 'guest', conversationId: 'c' } as const;
const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;

/** A tool whose definition costs much more than its line in the catalog. */
function grouped(name: string, group: string, change: Partial<Tool> = {}): Tool {
  const hint = 'Only where nothing else does the job. '.repeat(8);
  return { ...createCountingTool(name).tool, hint, group, ...change };
}

const TOOLS = [
  createCountingTool('look').tool,
  grouped('web_fetch', 'web'),
  grouped('cron', 'schedule', { effect: 'external' }),
  grouped('message', 'messages', { audience: 'owner' }),
  grouped('web_search', 'web'),
];

const createSets = (options: Partial<ToolRegistryOptions> = {}) =>
  createToolRegistry({ builtIn: TOOLS, byNeed: true, ...options }).registry;
const names = (tools: readonly { readonly name: string }[] | undefined) =>
  tools?.map(({ name }) => name) ?? [];

describe('tools that are offered by need', () => {
  it('[G02] [G17] are named in a catalog until their group is open, and then follow all other tools', () => {
    const set = createSets().for(OWNER);
    expect(names(set.offer([]).offered)).toEqual(['look', OPEN_TOOLS]);
    expect(names(set.offer(['messages', 'web']).offered)).toEqual([
      ...['look', OPEN_TOOLS, 'message', 'web_fetch', 'web_search'],
    ]);
    const catalog = set.offer([]).offered.at(-1)?.description;
    expect(catalog).toContain('web:\n- web_fetch: Says a word: web_fetch.\n- web_search: ');
    expect(set.offer(['web']).offered[1]).toBe(set.offer([]).offered[1]);
  });

  it.each<[string, Partial<ToolRegistryOptions>]>([
    ['the settings want all tools at once', { byNeed: false }],
    ['the tool that opens groups is blocked', { block: [OPEN_TOOLS] }],
    ['the allowed tools have no group', { allow: ['look'] }],
    ['the catalog would save too little', { allow: ['look', 'cron'] }],
  ])('[G02] are offered like all others if %s', (_when, options) => {
    const set = createSets(options).for(OWNER);
    expect(names(set.offer([]).offered)).toEqual(set.names);
    expect(set.names).not.toContain(OPEN_TOOLS);
  });

  it('[W02] [G04] are in the catalog only if the reader, the lane and the chat may use them', () => {
    const sets = createSets();
    expect(names(sets.for(GUEST).offer(['messages', 'schedule']).offered)).toEqual([
      ...['look', OPEN_TOOLS, 'cron'],
    ]);
    const catalogs = [
      sets.for(GUEST),
      sets.for(OWNER, ['message']),
      removeTools(sets.for(OWNER), (name) => name === 'message'),
      listToolsInMode(sets.for(GUEST), 'ask'),
    ];
    for (const set of catalogs) {
      expect(JSON.stringify(set.offer(['messages']))).not.toContain('message');
      expect(set.get('message')).toBeUndefined();
    }
  });

  it('[G02] cannot lose the tool that opens them to a plugin', () => {
    const added = [{ from: 'mine', tools: [createCountingTool(OPEN_TOOLS).tool] }];
    const { problems, registry } = createToolRegistry({ builtIn: TOOLS, byNeed: true, added });
    expect(problems).toMatchObject([{ code: 'tool-duplicate', tool: OPEN_TOOLS, from: 'mine' }]);
    expect(registry.for(OWNER).offer([]).offered.at(-1)?.description).toContain('web_fetch');
  });
});

let scene: TurnScene;
afterEach(() => scene?.close());

async function open(extras: SceneOptions = {}): Promise<void> {
  scene = await openTurnScene({}, { tools: TOOLS, byNeed: true, ...extras });
}

const asked = () => scene.model.asked.map(({ tools }) => names(tools));
const openGroups = (...groups: readonly string[]) => ({
  name: OPEN_TOOLS,
  with: { groups },
});

async function answer(...steps: readonly ScriptStep[]): Promise<void> {
  await scene.write('go on');
  scene.model.next(...steps);
  await scene.answerNext();
}

describe('a session in which tool groups are opened', () => {
  it('[G02] [P09] offers them from the next request on, and in every later turn of the session', async () => {
    await open();
    await answer({ calls: [openGroups('schedule')] }, { calls: [openGroups('web')] }, { say: 'a' });
    await answer({ say: 'b' });
    const start = ['look', OPEN_TOOLS];
    expect(asked()).toEqual([
      start,
      [...start, 'cron'],
      [...start, 'cron', 'web_fetch', 'web_search'],
      [...start, 'cron', 'web_fetch', 'web_search'],
    ]);
  });

  it('[G02] runs a call of a tool whose group is closed, and opens the group', async () => {
    const hidden = createCountingTool('hidden');
    await open({ tools: [...TOOLS, { ...hidden.tool, group: 'rare' }] });
    await answer({ calls: [say('hidden', 'hello')] }, { say: 'Done.' });
    expect(hidden.calls.map(({ word }) => word)).toEqual(['hello']);
    expect(asked()[1]).toEqual(['look', OPEN_TOOLS, 'hidden']);
  });

  it('[G02] tells the model which groups there are if it asks for another one', async () => {
    await open();
    await answer({ calls: [openGroups('webb')] }, { say: 'a' });
    const { messages = [] } = scene.model.asked[1] ?? {};
    expect(messages.at(-1)?.content).toContain('There are: web, schedule, messages.');
    expect(asked()[1]).toEqual(['look', OPEN_TOOLS]);
  });

  it('[G16] continues with the same tools if the process dies after opening a group', async () => {
    await open();
    await scene.write('go on');
    scene.model.next({ calls: [openGroups('web')] }, { say: 'a' });
    const { lanes } = scene.store;
    const commit = () => Promise.reject(new Error('killed'));
    Object.assign(scene.store, { lanes: { ...lanes, commit } });
    const started = await scene.begin();
    await expect(scene.run(started)).rejects.toThrow('killed');
    Object.assign(scene.store, { lanes });
    await lanes.release(started.lease);
    await scene.answerNext();
    await answer({ say: 'b' });
    const offered = ['look', OPEN_TOOLS, 'web_fetch', 'web_search'];
    expect(asked().slice(1)).toEqual([offered, offered, offered]);
  });

  it('[W02] offers a reader only the tools that this reader may have', async () => {
    await open();
    const chat = { chat: GROUP };
    await scene.write('go on', chat);
    scene.model.next({ calls: [openGroups('messages', 'web')] }, { say: 'a' });
    await scene.answerNext(GROUP.id);
    const { messages = [] } = scene.model.asked[1] ?? {};
    expect(messages.at(-1)?.content).toBe(
      'You can now call: web_fetch, web_search. There is no group "messages". There are: web, schedule.',
    );
    expect(asked()[1]).toEqual(['look', OPEN_TOOLS, 'web_fetch', 'web_search']);
  });

  it('[F10] [P09] keeps offering the tool that reads documents, after all others, once there was one', async () => {
    const attachments = { ofConversation: async () => null };
    const reader = createReadDocumentTool({ attachments, media: { readDocument: readHere } });
    await open({ tools: [reader, ...TOOLS] });
    const file = { kind: 'document', name: 'a.txt', bytes: Buffer.from('short') } as const;
    await answer({ say: 'a' });
    await scene.write('read this', { files: [file] });
    await scene.answerNext();
    await answer({ calls: [openGroups('schedule')] }, { say: 'b' });
    const withReader = ['look', OPEN_TOOLS, 'read_document'];
    expect(asked()).toEqual([
      ['look', OPEN_TOOLS],
      withReader,
      withReader,
      [...withReader, 'cron'],
    ]);
  });

  it('[G07] opens groups in a sub-agent for its turn only', async () => {
    await open({ delegates: true });
    await answer(
      { calls: [{ name: 'delegate_task', with: { title: 'birds', task: 'find birds' } }] },
      { say: 'under way' },
    );
    const lane = scene.woken.find((one) => one.startsWith('sub:')) ?? '';
    scene.model.next({ calls: [openGroups('web')] }, { say: 'herons' });
    await scene.answerNext(lane);
    expect(asked().at(-1)).toContain('web_fetch');
    const place = { conversationId: lane, session: 0 };
    expect(await scene.store.pins.fix(place, 'open-tools', 'nothing', 0)).toBe('nothing');
  });

  it('[P09] [G17] only ever appends to its list of tools, whatever the model calls', async () => {
    const groups = fc.subarray(['web', 'schedule', 'messages', 'unknown'], { minLength: 1 });
    const call = fc.oneof(
      groups.map((list) => openGroups(...list)),
      fc
        .constantFrom('look', 'cron', 'message', 'web_search', 'none')
        .map((name) => say(name, 'x')),
    );
    const turns = fc.array(fc.array(call, { maxLength: 3 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(turns, async (calls) => {
        const before = scene;
        await open();
        await before?.close();
        for (const turn of calls)
          await answer(...turn.map((one) => ({ calls: [one] })), { say: 'done' });
        const requests = scene.model.asked.map(({ tools }) => JSON.stringify(tools).slice(0, -1));
        for (const [nth, request] of requests.entries())
          expect(request.startsWith(requests[nth - 1] ?? '')).toBe(true);
      }),
      { numRuns: 25 },
    );
  });
});
