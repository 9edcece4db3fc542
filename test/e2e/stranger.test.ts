import { startTelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { startModelDouble } from '../model/index.ts';
import { type CloseFunctions, startInProcess } from './approval-scene.ts';

const EVE = 700;
const MESSAGES = 100;

const closing: CloseFunctions = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A hundred short messages with answers: about 40 and 250 characters. */
const said = (at: number) => `And what about number ${at}, is it good?`;
const ANSWER =
  'Yes, that one is good: it is quiet, close to the river, and has room for six people. Bring a blanket, because the grass is wet in the morning, and some water. If it rains, the old mill next to it has a roof, and its door is never locked.';

/**
 * Telegram with open access, and a provider that counts one token per four characters of a request.
 */
async function openToAll(cached: number, model: object = {}, spend: object = {}) {
  const [telegram, double] = await Promise.all([startTelegramDouble(), startModelDouble()]);
  closing.push(
    () => telegram.close(),
    () => double.close(),
  );
  const prompts: number[] = [];
  double.reply((request) => {
    const prompt = Math.ceil(JSON.stringify([request.messages, request.tools]).length / 4);
    prompts.push(prompt);
    const usage = { prompt, completion: 60, cached: Math.floor(prompt * cached) };
    return {
      text: `${ANSWER} (${prompts.length}) ${getMessageText(request.messages.at(-1)).length}`,
      usage,
    };
  });
  const parley = await startInProcess(
    double,
    {
      model: {
        ...{ provider: 'openai-compatible', baseUrl: double.baseUrl, model: 'double' },
        // Large enough for the whole history, so that each request is larger than the previous one.
        ...{ contextTokens: 128_000, ...model },
      },
      agent: { timeZone: 'Asia/Kathmandu' },
      lanes: { collectPauseMs: 0 },
      spend,
      channels: {
        telegram: {
          token: telegram.token,
          apiRoot: telegram.apiRoot,
          pace: false,
          access: { direct: 'open' },
        },
      },
    },
    closing,
  );
  const heard = () =>
    telegram.conversation(EVE).flatMap(({ from, text }) => (from === 'bot' ? [text] : []));
  const talk = async (count: number) => {
    for (let at = 1; at <= count; at += 1) {
      telegram.say({ chat: EVE, text: said(at) });
      await telegram.waitFor(() => heard().length >= at);
    }
    return heard();
  };
  return { talk, prompts, parley };
}

describe('a stranger admitted by open access', () => {
  it('[G17] can exchange a hundred short messages in a day, even if the provider reports no cache', async () => {
    const { talk, prompts } = await openToAll(0);
    const heard = await talk(MESSAGES);
    expect(heard).toHaveLength(MESSAGES);
    expect(heard.filter((text) => text.includes('used up'))).toEqual([]);
    if (process.env.PARLEY_SHOW_COST === '1') {
      const sum = prompts.reduce((all, one) => all + one, 0);
      process.stdout.write(`first ${prompts[0]}, last ${prompts.at(-1)}, all ${sum} tokens\n`);
    }
  });

  it('[G17] is charged for cached input at the cached rate', async () => {
    const price = { inputPerMillion: 1, cachedInputPerMillion: 0.1, outputPerMillion: 1 };
    const cap = { perStrangerDaily: { tokens: 30_000 } };
    const { talk, prompts } = await openToAll(0.9, { price }, cap);
    const heard = await talk(12);
    expect(heard.filter((text) => text.includes('used up'))).toEqual([]);
    expect(prompts.reduce((all, one) => all + one, 0)).toBeGreaterThan(30_000);
  });

  it('[G17] learns why an answer is missing and when the next one is possible', async () => {
    const { talk } = await openToAll(0, {}, { perStrangerDaily: { tokens: 4_000 } });
    const heard = await talk(3);
    expect(heard.at(-1)).toMatch(
      /^⚙️ You have used up your daily allowance\. Everyone may write to me here and each answer costs money, so each person has a daily limit\. I can answer again after midnight \(Asia\/Kathmandu\), in .+\.$/,
    );
  });
});
