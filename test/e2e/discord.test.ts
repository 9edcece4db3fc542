import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFullRun } from '@parley/core/testing';
import { type DiscordDouble, startDiscordDouble } from '@parley/simulators/discord';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import type { ReplyScript } from '../model/scripted-reply.ts';
import { waitUntilConnected } from './channel-states.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import {
  type DataFolder,
  makeDataFolder,
  type ParleyProcess,
  runCommand,
  startParleyProcess,
} from './parley-process.ts';

const ANN = '200000000000000501';
const STRANGER = '200000000000000999';

let discord: DiscordDouble;
let model: ModelDouble;
let folder: DataFolder;
let parley: TestParley;
let apart: ParleyProcess | undefined;
let direct: string;

beforeAll(async () => {
  [discord, model] = await Promise.all([startDiscordDouble(), startModelDouble()]);
  model.reply(repeat);
  folder = makeDataFolder({
    owners: [`discord:${ANN}`],
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    lanes: { collectPauseMs: 100 },
    http: { port: 0 },
    channels: {
      discord: {
        token: discord.token,
        apiRoot: discord.apiRoot,
        access: { allowGroups: [discord.channelId] },
      },
    },
  });
  direct = discord.dmWith(ANN);
  parley = await startParleyInProcess(folder.path);
  await discord.waitFor(() => discord.gateway().identifies > 0);
});
afterAll(async () => {
  await parley.discard();
  await Promise.all([discord.close(), model.close()]);
  folder.remove();
});

const repeat: ReplyScript = ({ messages }) =>
  `You said: ${getMessageText(messages.at(-1)).split('\n').at(-1)}`;
const answers = (channel: string) =>
  discord
    .conversation(channel)
    .filter(({ from }) => from === 'bot')
    .map(({ visible }) => visible);
const untilAnswers = (channel: string, count: number) =>
  discord.waitFor(() => answers(channel).length >= count && answers(channel));

/** Moves Parley to a separate process, unless an earlier test has done so. */
async function beApart(): Promise<ParleyProcess> {
  if (apart !== undefined) return apart;
  await parley.end();
  apart = await startParleyProcess(folder.path);
  parley = apart;
  await waitUntilConnected(apart);
  return apart;
}

describe('a conversation in Discord', () => {
  it('[F03] [G01] starts with a direct message, which the model answers', async () => {
    discord.say({ channel: direct, text: 'I like parrots' });
    expect(await untilAnswers(direct, 1)).toEqual(['You said: I like parrots']);
  });

  it('[F06] [F11] continues only in the thread where the bot was mentioned', async () => {
    const thread = discord.thread({ channel: discord.channelId, name: 'plans', from: ANN });
    discord.say({ channel: thread, from: STRANGER, text: 'not for the bot' });
    const asked = discord.say({
      channel: thread,
      from: STRANGER,
      text: `<@${discord.me.id}> for the bot`,
    });
    expect(await untilAnswers(thread, 1)).toEqual([expect.stringContaining('for the bot')]);
    expect(discord.conversation(thread).at(-1)?.replyTo).toBe(asked.id);
    expect(answers(discord.channelId)).toEqual([]);
    const answer = discord.conversation(thread).at(-1)?.id ?? '';
    discord.react({ channel: thread, message: answer, from: STRANGER, emoji: '👍' });
    discord.say({ channel: thread, from: STRANGER, text: `<@${discord.me.id}> more` });
    await untilAnswers(thread, 2);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('reacted with 👍 to');
  });

  it('[F09] [F11] accepts menu commands and answers each one where it was used, with one message', async () => {
    const { channelId } = discord;
    const [alone, open] = [answers(direct).length, answers(channelId).length];
    await discord.waitFor(() => discord.calls('PUT /applications/').length > 0);
    discord.slash({ channel: direct, from: ANN, name: 'whoami' });
    const id = discord.slash({ channel: channelId, from: ANN, name: 'whoami' });
    const told = () => discord.interaction(id).ephemeral.map(({ visible }) => visible);
    await discord.waitFor(() => told().join() !== '');
    expect(told()).toEqual([expect.stringContaining(ANN)]);
    await discord.waitFor(() => answers(direct).at(-1)?.includes(ANN));
    // This command runs as a turn.
    discord.slash({ channel: channelId, from: ANN, name: 'compact' });
    await discord.waitFor(() => answers(channelId).some((text) => text !== ''));
    expect(answers(direct)).toHaveLength(alone + 1);
    expect(answers(channelId)).toHaveLength(open + 1);
  });

  it('[F09] [D03] removes the pending reply of a command that is answered together with a later message', async () => {
    const before = answers(direct).length;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    model.reply((request) => released.then(() => repeat(request)));
    discord.say({ channel: direct, text: 'wait' });
    await expect.poll(() => model.open).toBe(1);
    const id = discord.slash({ channel: direct, name: 'compact' });
    await discord.waitFor(() => discord.interaction(id).answered);
    discord.say({ channel: direct, text: 'and go on' });
    expect(answers(direct).slice(before)).toEqual(['']);
    release();
    const shown = () => answers(direct).slice(before);
    await discord.waitFor(() => shown().length === 3 && !shown().includes(''));
    expect(shown()).toEqual([
      'You said: wait',
      'You said: and go on',
      expect.stringContaining('nothing to summarize'),
    ]);
    model.reply(repeat);
  });

  it('[D04] does not repeat answers sent between backup and restore', async () => {
    // In a full run, the restore ends this process; otherwise it has ended before.
    const ending = isFullRun() ? await beApart() : null;
    const before = answers(direct).length;
    const say = (text: string, count: number) => {
      discord.say({ channel: direct, text });
      return untilAnswers(direct, before + count);
    };
    await say('one', 1);
    // The read position is saved with a delay of some seconds.
    await new Promise((wake) => setTimeout(wake, 6_000));
    const file = join(folder.path, 'backup.tar.gz');
    const backup = await runCommand(['--data', folder.path, 'backup', file]);
    expect([backup.code, backup.err]).toEqual([0, '']);
    await say('two', 2);
    const sessions = discord.gateway().identifies;
    if (ending === null) await parley.end();
    const restored = await runCommand(['--data', folder.path, 'restore', file, '--yes']);
    expect([restored.code, restored.err]).toEqual([0, '']);
    if (ending !== null) expect(await ending.over()).toMatchObject({ code: 0 });
    apart = undefined;
    parley = await startParleyInProcess(folder.path);
    await discord.waitFor(() => discord.gateway().identifies > sessions);
    // Long enough for Parley to fetch and answer the messages.
    await new Promise((wake) => setTimeout(wake, 3_000));
    const all = await say('three', 3);
    expect(all.slice(before)).toEqual(['one', 'two', 'three'].map((t) => `You said: ${t}`));
  });

  it('[F12] [D01] [D04] shows a streamed answer, and completes the same message after a crash', async () => {
    const killed = await beApart();
    const before = answers(direct).length;
    const question = `Say this: ${'a long sentence comes here, '.repeat(12)}`;
    model.fault({ kind: 'stall', afterPieces: 8 });
    discord.say({ channel: direct, text: question });
    const [growing] = (await untilAnswers(direct, before + 1)).slice(before);
    expect(growing).toMatch(/^You said: Say this: a long/);
    expect(growing?.length).toBeLessThan(question.length);
    await killed.end('SIGKILL');
    const newcomer = discord.dmWith('200000000000000777');
    discord.say({ channel: newcomer, text: 'my first words' });
    parley = await startParleyInProcess(folder.path);
    const whole = `You said: ${question.trim()}`;
    await discord.waitFor(() => answers(direct).at(-1) === whole);
    expect(answers(direct).slice(before)).toEqual([whole]);
    // [D01] Only the resumed gateway session delivers a direct chat in which nobody had written
    // before.
    expect(await untilAnswers(newcomer, 1)).toEqual([expect.stringContaining('code')]);
  });

  it('[D01] answers messages written during a restart once', async () => {
    const before = answers(direct).length;
    await parley.end();
    discord.say({ channel: direct, text: 'while you were away' });
    parley = await startParleyInProcess(folder.path);
    const all = await untilAnswers(direct, before + 1);
    expect(all.at(-1)).toBe('You said: while you were away');
    discord.say({ channel: direct, text: 'and now?' });
    expect((await untilAnswers(direct, before + 2)).slice(before)).toEqual([
      'You said: while you were away',
      'You said: and now?',
    ]);
  });

  it('[F10] receives a file from the workspace with its caption', async () => {
    writeFileSync(join(folder.path, 'workspace/minutes.txt'), 'We agreed on tea.');
    const before = answers(direct).length;
    const file = { file: 'minutes.txt', caption: 'As agreed' };
    model.queue({ toolCalls: [{ name: 'send_file', arguments: file }] }, 'Sent.');
    discord.say({ channel: direct, text: 'the minutes, please' });
    expect((await untilAnswers(direct, before + 2)).slice(before)).toEqual(['As agreed', 'Sent.']);
    const sent = discord.conversation(direct).find(({ visible }) => visible === 'As agreed');
    expect(JSON.stringify(sent)).toContain('minutes.txt');
  });

  it("[F16] passes on another bot's embed when a person asks about it, and a poll sent without text", async () => {
    const thread = discord.thread({ channel: discord.channelId, name: 'builds', from: ANN });
    const fields = [{ name: 'branch', value: 'main' }];
    const embeds = [{ title: 'Build 77 failed', description: 'unit tests: 3 red', fields }];
    const failed = discord.say({ channel: thread, webhook: 'build-hook', embeds });
    discord.say({ channel: thread, from: ANN, replyTo: failed.id, text: `<@${discord.me.id}>` });
    await untilAnswers(thread, 1);
    const asked = JSON.stringify(model.requests.at(-1)?.body);
    for (const words of ['Build 77 failed', 'unit tests: 3 red', 'branch: main'])
      expect(asked).toContain(words);
    const before = answers(direct).length;
    const poll = { question: 'Where do we eat?', answers: ['Pizza', 'Soup'] };
    discord.say({ channel: direct, parts: { poll } });
    await untilAnswers(direct, before + 1);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('Where do we eat?');
  });
});
