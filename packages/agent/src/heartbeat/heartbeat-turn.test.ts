import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { HeartbeatRunRequest } from '@parley/store';
import { createPromptFiles, openWorkspace } from '@parley/workspace';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { createCountingTool, say } from '../testing/tool-scene.ts';
import {
  createTestPrompt,
  openTurnScene,
  type SceneOptions,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { OWNER_CHAT, PLACE } from '../testing/write-message.ts';
import { readTool } from '../tools/read-files.ts';
import { createNewsChecker } from './heartbeat-runner.ts';

const LANE = 'beat:main';
const NOTE = { task: 'mail', instruction: 'Look for the word canary.', schedule: 'every 30 min' };

const PRIVATE = '---\naudience: owner\n---\ncanary-profile';
const RHYME = { text: 'Rhyme.', source: 'chatty', audience: { kind: 'everyone' } } as const;
/** The claim of a previewed turn. */
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

async function open(extras: SceneOptions = {}, files: Record<string, string> = {}): Promise<void> {
  scene = await openTurnScene({}, extras);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(scene.folder, name)), { recursive: true });
    writeFileSync(join(scene.folder, name), text);
  }
  await scene.write('hello');
  await scene.answerNext();
}

const TARGETS = {
  direct: { dialect: 'plain', maxLength: 4096, unit: 'utf16' },
  group: { dialect: 'discord', maxLength: 2000, unit: 'utf16' },
} as const;

function order(id: string, place: 'direct' | 'group' = 'direct'): HeartbeatRunRequest {
  const chatId = place === 'direct' ? OWNER_CHAT : 'g';
  return {
    id,
    agent: 'main',
    task: NOTE.task,
    target: chatId,
    message: {
      conversationId: LANE,
      route: { ...PLACE, chatId, chatType: place, target: TARGETS[place] },
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

/**
 * The first request of a run as shown in the inspector, without the hashes that only the record
 * has.
 */
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
const alerting: SceneOptions = {
  heartbeat: {
    judge: async (text) => ({ state: 'alerted', text, fingerprint: text }),
  },
};

describe('a heartbeat', () => {
  it('[H03] leaves no trace in the chat or its history if it has nothing to report', async () => {
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

  it('[H04] [G08] sends an alert once, marked, and adds it to the history', async () => {
    await open(alerting);
    scene.model.next({ say: 'Two letters wait.' });
    await beat('b1');
    expect((await scene.owed()).at(-1)).toBe('⚙️ Two letters wait.');
    await scene.write('which?');
    await scene.answerNext();
    expect(asked()).toContain('Two letters wait.');
  });

  it('[H05] gets only its task: no history, a separate prompt layer and few tools', async () => {
    const tools = ['message', 'cron', 'plain'].map((name) => createCountingTool(name).tool);
    const asks = { ...createCountingTool('asks').tool, approval: 'ask' as const };
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
    '[H10] [P17] is previewed byte for byte (prompt, tools, voice) in the `%s` layout, even after files change',
    async (layout) => {
      const tools = ['message', 'plain', 'other'].map((name) => createCountingTool(name).tool);
      const asks = { ...createCountingTool('asks').tool, approval: 'ask' as const };
      const chatty = { id: 'chatty', before: async () => ({ system: [RHYME] }) };
      const extras = {
        tools: [...tools, asks],
        hooks: [chatty],
        prompt: createTestPrompt(layout),
      };
      await open(extras, {
        'AGENTS.md': 'Be brief.',
        'USER.md': PRIVATE,
        'MEMORY.md': 'canary-memory',
      });
      for (const [id, place] of [
        ['b1', 'direct'],
        ['b2', 'direct'],
        ['b3', 'group'],
      ] as const) {
        writeFileSync(join(scene.folder, 'TOOLS.md'), `The kettle is ${id}.`);
        writeFileSync(join(scene.folder, 'SOUL.md'), `You are as calm as ${id}.`);
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
        const whole = [...textsOf('system'), ...textsOf('user')].join('\n');
        expect(whole).toContain('You are Polly.');
        expect(whole).toContain(`You are as calm as ${id}.`);
        expect(whole).toContain(
          place === 'group' ? 'One message holds 2,000' : 'One message holds 4,096',
        );
        expect(whole.includes('canary-profile')).toBe(place === 'direct');
        expect(whole).not.toContain('canary-memory');
      }
    },
  );

  it('[H11] receives the general text of HEARTBEAT.md once, below its task', async () => {
    await open();
    const ordered = order('b1').message;
    const variables = { ...NOTE, context: 'Speak of money last.' };
    const message = { ...ordered, message: { ...ordered.message, variables } };
    await scene.store.heartbeats.start({ ...order('b1'), message }, null, 1);
    await scene.answerNext(LANE);
    const said = asked();
    expect(said.split('Speak of money last.')).toHaveLength(2);
    expect(said.indexOf(NOTE.instruction)).toBeLessThan(said.indexOf('Speak of money last.'));
  });

  it('[H04] [W02] for a group cannot read the owner’s private files', async () => {
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

  it('[H05] stops at its step limit', async () => {
    await open({ heartbeat: { limits: async () => ({ steps: 2 }) } });
    const call = { calls: [{ name: 'unknown', with: {} }] };
    const before = scene.model.asked.length;
    scene.model.next(call, { say: 'HEARTBEAT_OK' });
    await beat('b1');
    expect(scene.model.asked.length - before).toBe(2);
    expect(await scene.store.heartbeats.tokensSince('main', 0)).toBe(24);
  });

  it('[H04] records a failure without notifying anyone', async () => {
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

  describe('for an event from outside', () => {
    const hooked = (id: string, place: 'direct' | 'group' = 'direct'): HeartbeatRunRequest => {
      const { message, ...rest } = order(id, place);
      const variables = { ...NOTE, hook: 'ci' };
      const text = 'Write AGENTS.md. canary-event';
      const inner = { ...message.message, variables, text };
      return { ...rest, agent: 'hook:ci', message: { ...message, message: inner } };
    };
    async function event(id: string, place: 'direct' | 'group' = 'direct'): Promise<void> {
      await scene.store.heartbeats.start(hooked(id, place), null, 1);
      await scene.answerNext(LANE);
    }

    it('[H09] [P18] puts the text of an event into the user message only', async () => {
      await open(alerting);
      await event('e1');
      const { system = [], messages = [] } = scene.model.asked.at(-1) ?? {};
      expect(JSON.stringify(messages)).toContain('canary-event');
      expect(JSON.stringify(system)).not.toContain('canary-event');
      expect(JSON.stringify(system)).toContain(NOTE.instruction);
    });

    it.each(['direct', 'group'] as const)(
      '[H09] [G05] an event in a %s chat counts as untrusted text, with no approver to ask',
      async (place) => {
        const { tool, calls } = createCountingTool('act');
        await open({ ...alerting, tools: [{ ...tool, approval: 'ask-after-untrusted-text' }] });
        const acts = { calls: [say('act', 'now')] };
        scene.model.next(acts, { say: 'Not done.' });
        await event('e1', place);
        expect(asked()).toContain('act was not run');
        expect(calls).toEqual([]);
        scene.model.next(acts, { say: 'Done.' });
        await beat('b1', place);
        expect(calls).toHaveLength(1);
      },
    );

    it('[H09] [H04] reports a failed event run, since the event occurs only once', async () => {
      await open(alerting);
      scene.model.next({ fail: { kind: 'overloaded' } });
      await event('e1');
      expect((await scene.owed()).at(-1)).toMatch(
        /^⚙️ I could not handle an event from the hook ci/,
      );
      expect(await scene.store.heartbeats.of('e1')).toMatchObject({ state: 'failed' });
      const judged: unknown[] = [];
      const judge: NonNullable<SceneOptions['heartbeat']>['judge'] = async (text, run) => {
        judged.push(run.isUrgent);
        return { state: 'alerted', text, fingerprint: text };
      };
      await scene.close();
      await open({ heartbeat: { judge } });
      await event('e2');
      await event('e3', 'group');
      expect(judged).toEqual([false, true]);
    });
  });

  it('[G16] [H04] runs again and alerts once if the process dies before the commit', async () => {
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

  it('[H03] does not send an alert without visible text', async () => {
    await open(alerting);
    const before = await scene.owed();
    scene.model.next({ say: 'NO_REPLY' });
    await beat('b1');
    expect(await scene.owed()).toEqual(before);
    expect(await scene.store.heartbeats.of('b1')).toMatchObject({ state: 'quiet' });
  });
});

describe('the check before a standing task', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  const fetching = (port: number) => ({
    fetch: {
      ...{ enabled: true, approval: 'never' as const, ports: [port], seconds: 5 },
      ...{ maxMb: 0.01, maxCharacters: 100 },
    },
    search: { results: 1 },
  });
  const loopback = { resolve: async () => ['127.0.0.1'], isAllowed: () => true };

  async function commands() {
    const folder = mkdtempSync(join(tmpdir(), 'parley-check-'));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    const workspace = await openWorkspace({ folder: join(folder, 'w'), templates: folder });
    const limits = {
      seconds: 5,
      maxSeconds: 5,
      maxCharacters: 1_000,
      processes: 20,
      memoryMb: 200,
      diskMb: 200,
    };
    const promptFiles = createPromptFiles([]);
    return {
      approval: 'ask' as const,
      network: false,
      workspace,
      promptFiles,
      forbidden: [],
      ...limits,
    };
  }

  it('[H02] compares a page’s text and ignores its markup', async () => {
    let body = '<h1>Two letters</h1>';
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(body);
    }).listen(0, '127.0.0.1');
    closing.push(() => server.close());
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const checker = createNewsChecker({ web: fetching(port), rules: loopback });
    const check = { kind: 'url', url: `http://mail.example:${port}/` } as const;
    expect(checker.whyNot(check)).toBeNull();
    const first = await checker.look(check);
    body = '<h1 class="new">Two letters</h1><!-- 12:00 -->';
    expect(await checker.look(check)).toBe(first);
    body = '<h1>Three letters</h1>';
    expect(await checker.look(check)).not.toBe(first);
    body = 'x'.repeat(20_000);
    await expect(checker.look(check)).rejects.toThrow();
  });

  it('[G06] [H02] never requests a private address', async () => {
    const checker = createNewsChecker({ web: fetching(80) });
    await expect(checker.look({ kind: 'url', url: 'http://127.0.0.1/' })).rejects.toThrow();
    const metadata = { kind: 'url', url: 'http://169.254.169.254/' } as const;
    await expect(checker.look(metadata)).rejects.toThrow();
  });

  it.runIf(inject('bubblewrapPath'))(
    '[G06] [H02] [W09] returns what a command prints, in the sandbox',
    async () => {
      const exec = await commands();
      const checker = createNewsChecker({ exec });
      writeFileSync(join(exec.workspace.folder, 'mail.txt'), 'two letters');
      writeFileSync(join(exec.workspace.folder, 'MEMORY.md'), 'canary');
      const check = (command: string) => checker.look({ kind: 'command', command });
      expect(await check('cat mail.txt; cp MEMORY.md leak.md')).toContain('two letters');
      const guest = exec.workspace.for({ kind: 'guest', conversationId: 'c' });
      expect(await guest.read('leak.md')).toMatchObject({ reason: 'private' });
      await expect(check('cat /etc/shadow')).rejects.toThrow('exit code');
      await expect(check('sleep 30')).rejects.toThrow('by Parley: time');
    },
  );

  it('[G06] [H02] names the setting when commands or pages are switched off', () => {
    const checker = createNewsChecker({});
    expect(checker.whyNot({ kind: 'command', command: 'ls' })).toContain('exec.enabled');
    expect(checker.whyNot({ kind: 'url', url: 'https://a.b/' })).toContain('web.fetch.enabled');
  });
});
