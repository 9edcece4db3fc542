import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFullRun } from '@parley/core/testing';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ModelDouble, startModelDouble } from '../../model/index.ts';
import { type StartedProcess, startProcess } from '../processes.ts';

const CHATS = Array.from({ length: 20 }, (_, index) => index + 1);
const [QUESTIONS, KILLS] = isFullRun() ? [400, 4] : [160, 2];

let folder: string;
let telegram: TelegramDouble;
let model: ModelDouble;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-durable-bot-'));
  [telegram, model] = await Promise.all([startTelegramDouble(), startModelDouble()]);
});
afterEach(async () => {
  await Promise.all([telegram.close(), model.close()]);
  rmSync(folder, { recursive: true, force: true });
});

function startBot(name: string): StartedProcess {
  return startProcess({
    name,
    folder,
    args: [join(import.meta.dirname, `${name}.ts`)],
    env: {
      BOT_TOKEN: telegram.token,
      API_ROOT: telegram.apiRoot,
      MODEL_URL: model.baseUrl,
      DATABASE: join(folder, 'bot.db'),
    },
    readyLine: 'ready',
  });
}

const saidIn = (chat: number) =>
  telegram
    .conversation(chat)
    .filter(({ from }) => from === 'bot')
    .map(({ text }) => text);

it.each(['least-bot', 'library-bot'])(
  '%s answers every question once or reports uncertainty, whenever it is killed',
  async (name) => {
    let asked = 0;
    let heard = 0;
    const askedIn = new Map(CHATS.map((chat) => [chat, 0]));
    const ask = (chat: number): void => {
      asked += 1;
      askedIn.set(chat, (askedIn.get(chat) ?? 0) + 1);
      telegram.say({ chat, text: `question ${askedIn.get(chat)}.` });
    };
    telegram.transcript.changes.onChange(() => {
      for (const message of telegram.transcript.after(heard)) {
        heard = message.seq;
        if (message.from === 'bot' && asked < QUESTIONS) ask(message.chatId);
      }
    });
    let bot = startBot(name);
    await bot.readyAt;
    for (const chat of CHATS) ask(chat);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await telegram.waitFor(() => asked >= (kill * QUESTIONS) / (KILLS + 1) || undefined, 30_000);
      process.kill(bot.pid, 'SIGKILL');
      bot = startBot(name);
      await bot.readyAt;
    }
    const unanswered = () =>
      CHATS.flatMap((chat) => {
        const said = saidIn(chat);
        const numbers = Array.from({ length: askedIn.get(chat) ?? 0 }, (_, index) => index + 1);
        const silent = numbers.filter(
          (number) => !said.some((text) => text.includes(`n ${number}.`)),
        );
        const unsure = said.filter((text) => text.includes('cut off by a restart'));
        return silent.slice(unsure.length);
      });
    await telegram.waitFor(
      () => (asked >= QUESTIONS && unanswered().length === 0) || undefined,
      30_000,
    );
    await bot.stop();
    const twice = CHATS.flatMap((chat) => {
      const answers = saidIn(chat).flatMap((text) => text.match(/question \d+\./g) ?? []);
      return answers.filter((one, at) => answers.indexOf(one) !== at);
    });
    expect({ unanswered: unanswered(), twice }).toEqual({ unanswered: [], twice: [] });
  },
);
