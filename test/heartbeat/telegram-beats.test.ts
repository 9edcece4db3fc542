import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { startParleyInProcess, type TestParley } from '../e2e/parley-here.ts';
import { type DataFolder, makeDataFolder, runCommand } from '../e2e/parley-process.ts';
import { getMessageText } from '../model/chat-request.ts';
import {
  type BeatModel,
  readRuns,
  restartWithDueHeartbeat,
  runsEnded,
  startBeatModel,
  TASK,
  TIMEOUT_MS,
  withStore,
  writeWorkspaceFile,
} from './beat-scene.ts';

const ANN = 501;
const BO = 502;
const GROUP = -5;
const STATE = 'workspace/heartbeat-state.json';

let telegram: TelegramDouble;
let model: BeatModel;
let folder: DataFolder;
let parley: TestParley;
afterEach(async () => {
  await parley.discard();
  await Promise.all([telegram.close(), model.double.close()]);
  folder.remove();
});

async function open(heartbeat: object = {}, more: object = {}): Promise<void> {
  [telegram, model] = await Promise.all([startTelegramDouble(), startBeatModel()]);
  folder = makeDataFolder({
    owners: [`telegram:${ANN}`],
    model: { provider: 'openai-compatible', baseUrl: model.double.baseUrl, model: 'double' },
    lanes: { collectPauseMs: 50 },
    http: { port: 0 },
    heartbeat: { quietHours: 'off', ...heartbeat },
    channels: {
      telegram: {
        token: telegram.token,
        apiRoot: telegram.apiRoot,
        pace: false,
        access: { direct: 'allowlist', allow: [BO], allowGroups: [GROUP] },
      },
    },
    ...more,
  });
  writeWorkspaceFile(folder, 'HEARTBEAT.md', TASK);
  parley = await startParleyInProcess(folder.path);
}

const said = (chat: number) =>
  telegram
    .conversation(chat)
    .filter(({ from }) => from === 'bot')
    .map(({ text }) => text);
const until = (chat: number, words: string) =>
  telegram.waitFor(() => said(chat).some((text) => text.includes(words)), TIMEOUT_MS);

async function greet(chat: number, from = ANN): Promise<void> {
  telegram.say({ chat, from, text: 'hello @parley_test_bot' });
  await until(chat, 'You said');
}

/** Runs one scheduled heartbeat to its end. */
async function dueBeat(): Promise<void> {
  parley = await restartWithDueHeartbeat(folder, parley);
  await expect.poll(() => runsEnded(parley)).toBeGreaterThan(0);
}

/** Runs the due task immediately, without waiting for its time. */
async function beat(): Promise<void> {
  const before = runsEnded(parley);
  const { code, out, err } = await runCommand(['--data', folder.path, 'heartbeat', 'now']);
  expect(code, `${out}${err}`).toBe(0);
  await expect.poll(() => runsEnded(parley)).toBeGreaterThan(before);
}

/** The reason why the last heartbeat did not start a run. */
async function reasonOfRest(): Promise<string | null | undefined> {
  const since = Date.now();
  parley = await restartWithDueHeartbeat(folder, parley);
  const plan = () => withStore(folder, ({ heartbeats }) => heartbeats.plan('main'));
  // The run may first execute a command, which takes a moment.
  await expect.poll(async () => (await plan())?.lastAt ?? 0).toBeGreaterThanOrEqual(since);
  await parley.end();
  return (await plan())?.lastReason;
}

/** All requests that the model received from heartbeats. */
const sent = () => JSON.stringify(model.beats());

describe('an alert on Telegram', () => {
  it('[H04] [G08] reaches the owner once, marked, and a reply to it is understood', async () => {
    await open();
    await greet(ANN);
    model.says('Two letters wait: **the bank** and Bo.');
    await dueBeat();
    await until(ANN, 'Two letters');
    telegram.say({ chat: ANN, text: 'what does the bank want?' });
    await until(ANN, 'what does the bank want?');
    expect(said(ANN).filter((text) => text.includes('Two letters'))).toEqual([
      '⚙️ Two letters wait: the bank and Bo.',
    ]);
    const last = model.double.requests.at(-1)?.body.messages ?? [];
    expect(last.map(getMessageText).join('\n')).toContain('Two letters wait');
  });

  it('[H04] is not sent again within a day, whichever task finds it', async () => {
    await open();
    await greet(ANN);
    model.says('The backup failed.');
    await beat();
    await until(ANN, 'The backup failed.');
    writeWorkspaceFile(folder, 'HEARTBEAT.md', `${TASK}\n## other\n- do: Look at the backup.\n`);
    model.says('the **backup** failed!');
    await beat();
    expect(said(ANN).slice(1)).toEqual(['⚙️ The backup failed.']);
    expect((await readRuns(folder, parley)).map(({ state }) => state)).toEqual([
      'alerted',
      'repeated',
    ]);
  });

  it('[H03] is not sent when nothing happened, and does not appear in any history', async () => {
    await open();
    await greet(ANN);
    await beat();
    telegram.say({ chat: ANN, text: 'anything new?' });
    await until(ANN, 'anything new?');
    expect(said(ANN)).toHaveLength(2);
    expect(JSON.stringify(model.double.requests.at(-1)?.body)).not.toContain('HEARTBEAT_OK');
    expect(await readRuns(folder, parley)).toMatchObject([{ task: 'mail', state: 'quiet' }]);
  });

  it.each(['telegram:-5', 'family'])(
    '[H04] [W02] reaches the group that a task names (%s), and its run sees nothing private',
    async (tell) => {
      const chats = { family: { channel: 'telegram', chat: GROUP } };
      await open({}, { tools: { message: { chats } } });
      writeWorkspaceFile(folder, 'MEMORY.md', 'canary-memory\n');
      writeWorkspaceFile(folder, 'USER.md', 'canary-user\n');
      writeWorkspaceFile(folder, 'memory/2026-11-21.md', 'canary-notes\n');
      await greet(ANN);
      await greet(GROUP, BO);
      writeWorkspaceFile(folder, 'HEARTBEAT.md', `${TASK}- tell: ${tell}\n`);
      model.says(({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? 'Dinner is at eight.'
          : { toolCalls: [{ name: 'read', arguments: { path: 'MEMORY.md' } }] },
      );
      await beat();
      await until(GROUP, 'Dinner');
      expect(said(GROUP).at(-1)).toBe('⚙️ Dinner is at eight.');
      expect(said(ANN)).toHaveLength(1);
      expect(model.beats()).toHaveLength(2);
      expect(sent()).not.toContain('canary');
      telegram.say({ chat: GROUP, from: BO, text: 'why so late? @parley_test_bot' });
      await until(GROUP, 'why so late?');
      expect(JSON.stringify(model.double.requests.at(-1)?.body)).toContain('Dinner is at eight.');
    },
  );

  it('[H04] goes to the owner when its task names an unknown group, with a notice about the group', async () => {
    await open();
    await greet(ANN);
    await greet(GROUP, BO);
    writeWorkspaceFile(folder, 'HEARTBEAT.md', `${TASK}- tell: Friends\n`);
    model.says('Dinner is at eight.');
    await beat();
    await until(ANN, 'Dinner');
    expect(said(GROUP)).toHaveLength(1);
    expect(parley.err()).toContain(
      'no group is called \\"Friends\\", so the alert goes to the owner',
    );
  });

  it('[H04] is not attempted while no owner can be notified, and the reason is shown', async () => {
    await open();
    await greet(GROUP, BO);
    expect(await reasonOfRest()).toBe('no owner has written in a direct chat yet');
    expect(model.beats()).toEqual([]);
  });

  it('[H04] waits for the end of the quiet hours, even across restarts', async () => {
    const hour = (offset: number) =>
      new Date(Date.now() + offset * 3_600_000).toISOString().slice(11, 16);
    await open({ quietHours: `${hour(-2)}-${hour(2)}` }, { agent: { timeZone: 'UTC' } });
    await greet(ANN);
    model.says('The backup failed.');
    await dueBeat();
    parley = await restartWithDueHeartbeat(folder, parley);
    expect(said(ANN)).toHaveLength(1);
    expect(await readRuns(folder, parley)).toMatchObject([{ state: 'held' }]);
    const database = new DatabaseSync(join(folder.path, 'parley.db'));
    database.exec('UPDATE heartbeat_run SET held_until = 1');
    database.close();
    parley = await startParleyInProcess(folder.path);
    await until(ANN, 'The backup failed.');
    parley = await restartWithDueHeartbeat(folder, parley);
    telegram.say({ chat: ANN, text: 'which backup?' });
    await until(ANN, 'which backup?');
    expect(said(ANN).slice(1)).toEqual(['⚙️ The backup failed.', 'You said: which backup?']);
    expect(JSON.stringify(model.double.requests.at(-1)?.body)).toContain('The backup failed.');
  });
});

describe('a check before a heartbeat task', () => {
  it.runIf(inject('bubblewrapPath'))(
    '[H02] [G06] avoids the model call while its command prints the same output, in a real sandbox',
    async () => {
      await open({}, { exec: { enabled: true } });
      writeWorkspaceFile(folder, 'mail.txt', 'two letters');
      writeWorkspaceFile(
        folder,
        'HEARTBEAT.md',
        `${TASK.replace('30 min', '5 min')}- check: cat mail.txt\n`,
      );
      await greet(ANN);
      await dueBeat();
      const rewound = async () => {
        await parley.end();
        const state = JSON.parse(readFileSync(join(folder.path, STATE), 'utf8'));
        state.tasks.mail.lastRun = '2026-01-01T00:00:00Z';
        writeWorkspaceFile(folder, 'heartbeat-state.json', JSON.stringify(state));
      };
      await rewound();
      expect(await reasonOfRest()).toBe('mail: there is nothing new');
      expect(model.beats()).toHaveLength(1);
      writeWorkspaceFile(folder, 'mail.txt', 'three letters');
      await rewound();
      await dueBeat();
      expect(model.beats()).toHaveLength(2);
    },
  );

  it('[H02] [G06] is skipped and logged where commands are switched off', async () => {
    await open();
    writeWorkspaceFile(folder, 'HEARTBEAT.md', `${TASK}- check: touch ran.txt\n`);
    await greet(ANN);
    await beat();
    expect(parley.err()).toContain('commands are switched off (exec.enabled)');
    expect(existsSync(join(folder.path, 'workspace/ran.txt'))).toBe(false);
  });
});
