import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HeartbeatOrder } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { countingTool } from '../testing/counting-tool.ts';
import {
  housePrompt,
  openTurnScene,
  type SceneExtras,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { OWNER_CHAT, PLACE } from '../testing/write-message.ts';
import { readTool } from '../tools/read-files.ts';

const LANE = 'beat:main';
const NOTE = { task: 'mail', instruction: 'Look for the word canary.', schedule: 'every 30 min' };

const RHYME = { text: 'Rhyme.', source: 'chatty', audience: { kind: 'everyone' } } as const;
/** A turn of a preview. */
const UNCLAIMED = {
  turnId: 'preview',
  session: 0,
  resumed: false,
  attempts: 0,
  groupContext: [],
  steps: [],
} as const;

let scene: TurnScene;
afterEach(() => scene.close());

async function open(extras: SceneExtras = {}, files: Record<string, string> = {}): Promise<void> {
  scene = await openTurnScene({}, extras);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(scene.folder, name)), { recursive: true });
    writeFileSync(join(scene.folder, name), text);
  }
  await scene.write('hello');
  await scene.answerNext();
}

const target = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;

function order(id: string, place: 'direct' | 'group' = 'direct'): HeartbeatOrder {
  const chatId = place === 'direct' ? OWNER_CHAT : 'g';
  return {
    id,
    agent: 'main',
    task: NOTE.task,
    target: chatId,
    message: {
      conversationId: LANE,
      route: { ...PLACE, chatId, chatType: place, target },
      receivedAt: 1,
      fromOwner: place === 'direct',
      message: {
        ...PLACE,
        messageId: id,
        chat: { id: LANE, type: place },
        sender: { id: '1', name: 'Ann', isBot: false },
        text: '⚙️ Heartbeat.',
        mentions: [],
        addressed: true,
        sentAt: 1,
        variables: NOTE,
        trigger: 'heartbeat',
      },
    },
  };
}

/** The first request of a run as the inspector has it; a message of the record has a hash. */
async function recordedRun(conversationId: string) {
  const [newest] = await scene.store.prompts.list({ chat: conversationId, limit: 1 });
  const recorded = await scene.store.prompts.ofTurn(newest?.turnId ?? '');
  if (recorded === null) throw new Error('nothing was recorded');
  const { layout, parts, unsent, tools, sections, characters, tokens } = recorded;
  const messages = recorded.messages.map(({ hash: _, ...size }) => size);
  return { layout, parts, unsent, tools, messages, sections, characters, tokens };
}

async function beat(id: string, place: 'direct' | 'group' = 'direct'): Promise<void> {
  await scene.store.heartbeats.start(order(id, place), null, 1);
  await scene.answerNext(LANE);
}

const asked = () => JSON.stringify(scene.model.asked.at(-1));
const alerting: SceneExtras = {
  heartbeat: {
    judge: async (text) => ({ state: 'alerted', text, fingerprint: text }),
  },
};

describe('a heartbeat', () => {
  it('[H03] that finds nothing leaves no trace in the chat and its history', async () => {
    await open();
    const before = await scene.owed();
    scene.model.next({ say: 'HEARTBEAT_OK' });
    await beat('b1');
    expect(await scene.owed()).toEqual(before);
    expect(await scene.store.heartbeats.of('b1')).toMatchObject({ state: 'quiet' });
    await scene.write('and now?');
    await scene.answerNext();
    expect(asked()).not.toContain('HEARTBEAT');
  });

  it('[H04] [G08] that has an alert sends it once, marked, and records that', async () => {
    await open(alerting);
    scene.model.next({ say: 'Two letters wait.' });
    await beat('b1');
    expect((await scene.owed()).at(-1)).toBe('⚙️ Two letters wait.');
    await scene.write('which?');
    await scene.answerNext();
    expect(asked()).toContain('Two letters wait.');
  });

  it('[H05] gets its task alone: no history, its own layer, few tools', async () => {
    const tools = ['message', 'cron', 'plain'].map((name) => countingTool(name).tool);
    const asks = { ...countingTool('asks').tool, approval: 'ask' as const };
    await open({ tools: [...tools, asks], delegates: true });
    await beat('b1');
    const { system = [], messages = [], tools: offered = [] } = scene.model.asked.at(-1) ?? {};
    const prompt = system.map(({ text }) => text).join('\n');
    expect(prompt).toContain('## Heartbeat');
    expect(prompt).toContain('Task: mail\nSchedule: every 30 min\nLook for the word canary.');
    expect(messages).toHaveLength(1);
    expect(JSON.stringify(messages)).not.toContain('hello');
    expect(offered.map(({ name }) => name)).toEqual(['plain']);
    await scene.write('hello again');
    await scene.answerNext();
    expect(JSON.stringify(scene.model.asked.at(-1)?.system)).not.toContain('## Heartbeat');
  });

  it.each(['parley', 'mushroom', 'lab', 'zeus', 'openclaw', 'neomagi'])(
    '[H10] [P17] is previewed to the byte, prompt and tools, in the layout %s and also after changes',
    async (layout) => {
      const tools = ['message', 'plain', 'other'].map((name) => countingTool(name).tool);
      const asks = { ...countingTool('asks').tool, approval: 'ask' as const };
      const chatty = { id: 'chatty', before: async () => ({ system: [RHYME] }) };
      const extras = { tools: [...tools, asks], hooks: [chatty], prompt: housePrompt(layout) };
      await open(extras, { 'AGENTS.md': 'Be brief.' });
      for (const [id, place] of [
        ['b1', 'direct'],
        ['b2', 'direct'],
        ['b3', 'group'],
      ] as const) {
        writeFileSync(join(scene.folder, 'TOOLS.md'), `The kettle is ${id}.`);
        const { target, message } = order(id, place);
        const claimed = { ...UNCLAIMED, conversationId: LANE, messages: [{ seq: 0, ...message }] };
        const previewed = await scene.preview(claimed, { heartbeat: { target } });
        await beat(id, place);
        expect(previewed).toEqual(await recordedRun(LANE));
        const { system, messages, tools: offered = [] } = scene.model.asked.at(-1) ?? {};
        const textsOf = (placement: string) =>
          previewed.parts.flatMap((part) => (part.placement === placement ? part.text : []));
        expect(textsOf('system')).toEqual(system?.map(({ text }) => text));
        expect(textsOf('tools')).toEqual([offered.map((tool) => JSON.stringify(tool)).join('\n')]);
        expect(messages?.[0]?.content.startsWith(textsOf('user').join('\n\n'))).toBe(true);
        expect(previewed.tools).toEqual(['plain', 'other']);
      }
    },
  );

  it('[H04] [W02] for a group may read nothing that is the owner’s alone', async () => {
    const files = { 'MEMORY.md': 'canary-memory' };
    const reads = { calls: [{ name: 'read', with: { path: 'MEMORY.md' } }] };
    await open({ ...alerting, tools: [readTool] }, files);
    const before = scene.model.asked.length;
    scene.model.next(reads, { say: 'done' });
    await beat('b1', 'group');
    expect(scene.model.asked).toHaveLength(before + 2);
    expect(JSON.stringify(scene.model.asked.slice(before))).not.toContain('canary-memory');
    scene.model.next(reads, { say: 'done' });
    await beat('b2');
    expect(asked()).toContain('canary-memory');
  });

  it('[H05] may use no more than it is given', async () => {
    await open({ heartbeat: { limits: async () => ({ steps: 2 }) } });
    const call = { calls: [{ name: 'unknown', with: {} }] };
    const before = scene.model.asked.length;
    scene.model.next(call, { say: 'HEARTBEAT_OK' });
    await beat('b1');
    expect(scene.model.asked.length - before).toBe(2);
    expect(await scene.store.heartbeats.tokensSince('main', 0)).toBe(24);
  });

  it('[H04] that fails notifies no one and is recorded as failed', async () => {
    await open(alerting);
    const before = await scene.owed();
    scene.model.next({ fail: { kind: 'overloaded' } });
    await beat('b1');
    expect(await scene.owed()).toEqual(before);
    expect(await scene.store.heartbeats.of('b1')).toMatchObject({ state: 'failed' });
    scene.model.next({ say: 'Rain.' });
    await beat('b2');
    expect((await scene.owed()).at(-1)).toBe('⚙️ Rain.');
  });

  it('[G16] [H04] that dies before its commit is run again and alerts once', async () => {
    await open(alerting);
    await scene.store.heartbeats.start(order('b1'), null, 1);
    scene.model.next({ say: 'Rain.' }, { say: 'Rain.' });
    const started = await scene.begin(LANE);
    scene.later(20_000);
    const again = await scene.begin(LANE);
    await scene.run(started);
    await scene.run(again);
    const alerts = (await scene.owed()).filter((text) => text.includes('Rain.'));
    expect(alerts).toEqual(['⚙️ Rain.']);
  });

  it('[H03] never sends an alert that a person could not see', async () => {
    await open(alerting);
    const before = await scene.owed();
    scene.model.next({ say: 'NO_REPLY' });
    await beat('b1');
    expect(await scene.owed()).toEqual(before);
    expect(await scene.store.heartbeats.of('b1')).toMatchObject({ state: 'quiet' });
  });
});
