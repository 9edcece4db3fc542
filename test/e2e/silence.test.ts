import { type DiscordDouble, startDiscordDouble } from '@parley/simulators/discord';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder } from './parley-process.ts';

const ANN = 501;
const BO = 502;
const GROUP = -5;
const DISCORD_ANN = '200000000000000501';

let telegram: TelegramDouble;
let discord: DiscordDouble;
let model: ModelDouble;
let folder: DataFolder;
let parley: TestParley;

const LOOKING = 'Let me look around and see what there is to say about it, which may take a while.';

/**
 * The model repeats the text after `say:` in the newest message; when asked to look, it finds
 * nothing to say.
 */
beforeAll(async () => {
  [telegram, discord, model] = await Promise.all([
    startTelegramDouble(),
    startDiscordDouble(),
    startModelDouble(),
  ]);
  model.reply(async ({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool') {
      await discord.waitFor(() => drafted());
      return 'NO_REPLY';
    }
    if (getMessageText(last).includes('look!')) {
      return { text: LOOKING, toolCalls: [{ name: 'current_time', arguments: {} }] };
    }
    const said = getMessageText(last).split('say:').at(-1) ?? '';
    return said.replaceAll('⏎', '\n').trim();
  });
  folder = makeDataFolder({
    owners: [`telegram:${ANN}`, `discord:${DISCORD_ANN}`],
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    lanes: { collectPauseMs: 0, busy: 'followup' },
    http: { port: 0 },
    spend: { perPersonDaily: { tokens: 1 } },
    channels: {
      telegram: {
        token: telegram.token,
        apiRoot: telegram.apiRoot,
        access: { direct: 'pairing', allow: [BO], groups: 'allowlist', allowGroups: [GROUP] },
      },
      discord: {
        token: discord.token,
        apiRoot: discord.apiRoot,
        access: { allowGroups: [discord.channelId] },
      },
    },
  });
  parley = await startParleyInProcess(folder.path);
  await discord.waitFor(() => discord.gateway().identifies > 0);
});
afterAll(async () => {
  await parley.discard();
  await Promise.all([telegram.close(), discord.close(), model.close()]);
  folder.remove();
});

const inTelegram = (chat: number) =>
  telegram.conversation(chat).filter(({ from }) => from === 'bot');
const inDiscord = (channel: string) =>
  discord.conversation(channel).filter(({ from }) => from === 'bot');

const drafted = () =>
  inDiscord(discord.dmWith(DISCORD_ANN)).some(({ visible }) => visible === LOOKING);

describe('the visible part of an answer', () => {
  it('[G09] on Telegram is empty when there is nothing to say, and never contains the token', async () => {
    telegram.say({ chat: ANN, text: 'say: **NO_REPLY**' });
    telegram.say({ chat: ANN, text: 'say: HEARTBEAT_OK' });
    telegram.say({ chat: ANN, text: 'say: NO_REPLY⏎⏎⚙️ It rains.' });
    await telegram.waitFor(() => inTelegram(ANN).length > 0);
    expect(inTelegram(ANN).map(({ text }) => text)).toEqual(['It rains.']);
  });

  it('[G10] on Telegram quotes the message chosen by the model, even in a direct chat', async () => {
    const before = inTelegram(ANN).length;
    const { message_id: id } = telegram.say({ chat: ANN, text: 'say: [[reply_to_current]] Yes.' });
    await telegram.waitFor(() => inTelegram(ANN).length > before);
    expect(inTelegram(ANN).at(-1)).toMatchObject({ text: 'Yes.', replyTo: id });
  });

  it('[G09] [G10] on Discord is the same, and no draft shows a token or a tag', async () => {
    const direct = discord.dmWith(DISCORD_ANN);
    discord.say({ channel: direct, from: DISCORD_ANN, text: 'say: `NO_REPLY`' });
    const asked = discord.say({
      channel: direct,
      from: DISCORD_ANN,
      text: 'say: [[reply_to_current]] It rains.⏎⏎NO_REPLY',
    });
    await discord.waitFor(() => inDiscord(direct).length > 0);
    expect(inDiscord(direct)).toMatchObject([{ visible: 'It rains.', replyTo: asked.id }]);
    expect(JSON.stringify(discord.calls('POST /channels/'))).not.toMatch(/NO_REPLY|reply_to_/);
  });
});

describe('the draft of a withheld answer', () => {
  it('[F12] [G09] is removed on Discord', async () => {
    const direct = discord.dmWith(DISCORD_ANN);
    const before = inDiscord(direct).length;
    discord.say({ channel: direct, from: DISCORD_ANN, text: 'look!' });
    await discord.waitFor(() => drafted());
    await discord.waitFor(() => !drafted());
    expect(inDiscord(direct)).toHaveLength(before);
  });
});

describe('a person who has used up a spending limit', () => {
  it('[G17] receives a marked notice, while owners can continue', async () => {
    telegram.say({ chat: BO, text: 'say: First.' });
    await telegram.waitFor(() => inTelegram(BO).length === 1);
    telegram.say({ chat: BO, text: 'say: Second.' });
    await telegram.waitFor(() => inTelegram(BO).length === 2);
    const [first, second] = inTelegram(BO).map(({ text }) => text);
    expect(first).toBe('First.');
    expect(second).toMatch(/^⚙️ You have used up your daily allowance\./);
    const before = inTelegram(ANN).length;
    telegram.say({ chat: ANN, text: 'say: Still here.' });
    await telegram.waitFor(() => inTelegram(ANN).length > before);
    expect(inTelegram(ANN).at(-1)?.text).toBe('Still here.');
  });
});
