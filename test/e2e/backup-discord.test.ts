import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { textOf } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { type DiscordDouble, startDiscordDouble } from '../platforms/discord/discord-double.ts';
import {
  type DataFolder,
  makeDataFolder,
  type ParleyProcess,
  runParley,
  startParleyProcess,
} from './parley-process.ts';

const ANN = '200000000000000501';

let discord: DiscordDouble;
let model: ModelDouble;
let folder: DataFolder;
let parley: ParleyProcess;
beforeEach(async () => {
  [discord, model] = await Promise.all([startDiscordDouble(), startModelDouble()]);
  model.reply(({ messages }) => `You said: ${textOf(messages.at(-1)).split('\n').at(-1)}`);
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
  parley = await startParleyProcess(folder.path);
  await discord.waitFor(() => discord.gateway().identifies > 0);
});
afterEach(async () => {
  await parley.end('SIGKILL');
  await Promise.all([discord.close(), model.close()]);
  folder.remove();
});

describe('a platform that gives out what was missed', () => {
  it('[D04] is not asked for what was answered between backup and restore', async () => {
    const direct = discord.dmWith(ANN);
    const answers = () =>
      discord
        .conversation(direct)
        .filter(({ from }) => from === 'bot')
        .map(({ visible }) => visible);
    const say = (text: string, count: number) => {
      discord.say({ channel: direct, text });
      return discord.waitFor(() => answers().length >= count && answers());
    };
    await say('one', 1);
    // How far it has read is written some seconds later.
    await new Promise((wake) => setTimeout(wake, 6_000));
    const file = join(folder.path, 'backup.tar.gz');
    const backup = await runParley(['--data', folder.path, 'backup', file]);
    expect([backup.code, backup.err]).toEqual([0, '']);
    await say('two', 2);
    const restored = await runParley(['--data', folder.path, 'restore', file]);
    expect([restored.code, restored.err]).toEqual([0, '']);
    await discord.waitFor(() => discord.gateway().identifies > 1);
    // Time enough to fetch and to answer.
    await new Promise((wake) => setTimeout(wake, 3_000));
    expect(await say('three', 3)).toEqual(['one', 'two', 'three'].map((t) => `You said: ${t}`));
  });
});
