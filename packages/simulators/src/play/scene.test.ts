import { Telegraf } from 'telegraf';
import { afterEach, describe, expect, it } from 'vitest';
import { describeSceneDifference, playScene, readScene, recordScene, writeScene } from './scene.ts';
import type { StartedSimulator } from './start.ts';
import { startSimulator } from './start.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A bot that echoes, asks once with buttons, and sends codes that differ every time. */
async function withBot(greeting = 'You said'): Promise<StartedSimulator> {
  const simulator = await startSimulator('telegram');
  const { token, apiRoot } = simulator.settings;
  const bot = new Telegraf(String(token), { telegram: { apiRoot: String(apiRoot) } });
  const inline_keyboard = [[{ text: 'Yes', callback_data: 'yes' }]];
  bot.hears(/sure/, (context) => context.reply('Sure?', { reply_markup: { inline_keyboard } }));
  bot.hears(/code/, (context) =>
    context.reply(
      `/approve ${Math.random().toString(36).slice(2, 8).toUpperCase().padEnd(6, '7')}`,
    ),
  );
  bot.on('message', (context) => context.reply(`${greeting}: ${context.text}`));
  bot.on('callback_query', async (context) => {
    await context.answerCbQuery('Thank you');
    await context.editMessageText('It is sure.');
  });
  const running = bot.launch();
  closing.push(async () => {
    bot.stop();
    await simulator.close();
    await running.catch(() => undefined);
  });
  await simulator.waitFor(({ calls }) => calls.some(({ call }) => call === 'deleteWebhook'));
  return simulator;
}

async function play(simulator: StartedSimulator): Promise<string> {
  const recording = recordScene(simulator);
  const until = (chat: string, message: string, text: string) =>
    simulator.waitFor(({ chats }) =>
      chats
        .find(({ key }) => key === chat)
        ?.messages.some((one) => one.key === message && one.text.includes(text)),
    );
  await simulator.act({ kind: 'say', chat: 'friends', from: 'ann', text: 'hello', mention: true });
  await until('friends', 'bot:1', 'hello');
  const sure = { kind: 'say', chat: 'you', from: 'you', text: 'sure' } as const;
  await simulator.act(sure);
  await until('you', 'bot:1', 'Sure?');
  await simulator.act({ kind: 'press', chat: 'you', message: 'bot:1', from: 'you', button: 'Yes' });
  await until('you', 'bot:1', 'It is sure.');
  await simulator.act({ kind: 'say', chat: 'bo', from: 'bo', text: 'a code' });
  await until('bo', 'bot:1', '/approve');
  return writeScene(recording.stop());
}

describe('recording and playing a scene', () => {
  it('[U04] records the visible messages before each act and replays them without a difference', async () => {
    const first = await withBot();
    const text = await play(first);
    const notice = first.world().chats.find(({ key }) => key === 'you')?.notice;
    expect(notice).toMatchObject({ to: 'you', text: 'Thank you' });
    const scene = readScene(text);
    expect(scene.map((line) => ('act' in line ? line.act.kind : line.shown.message))).toEqual([
      ...['say', 'bot:1', 'say', 'bot:1', 'press', 'bot:1', 'say', 'bot:1'],
    ]);
    expect(await playScene(await withBot(), scene)).toEqual([]);
  });

  it('[U04] reports different, missing and unexpected messages', async () => {
    const say = { kind: 'say', chat: 'ann', from: 'ann', text: 'hello' } as const;
    const shown = { chat: 'ann', message: 'bot:1', text: 'You said: hello' };
    const later = { chat: 'ann', message: 'bot:2', matches: '^You' };
    const scene = [
      { act: say },
      { shown },
      { act: { ...say, chat: 'bo', from: 'bo' } },
      { shown: later },
    ];
    const differences = await playScene(await withBot('You wrote'), scene, {
      ...{ patienceMs: 4_000, settleMs: 300 },
    });
    expect(differences.map(describeSceneDifference)).toEqual([
      'ann bot:1 is different\n  expected: {"text":"You said: hello"}\n  seen:     {"text":"You wrote: hello"}',
      'ann bot:2 is missing: {"matches":"^You"}',
      'bo bot:1 was not expected: {"text":"You wrote: hello"}',
    ]);
  });

  it.each([
    ['{"act":{"kind":"dance"}}', /Line 2 .*Invalid/s],
    ['{"act":', /Line 2 .*JSON/],
  ])('[U04] reports the invalid line: %s', (line, reason) => {
    expect(() => readScene(`# by hand\n${line}`)).toThrow(reason);
  });
});
