import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ChatRequest, textOf } from '../model/chat-request.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';
import { embedded } from './embedded.ts';
import type { KeptAlive } from './kept-alive.ts';

const ANN = 501;
const TIMEOUT_MS = 60_000;
const JOB = { action: 'add', task: 'tea', at: 'in 3 s' };

const root = mkdtempSync(join(tmpdir(), 'parley-crash-job-'));
let telegram: TelegramDouble;
let model: ModelDouble;
let parley: KeptAlive | undefined;
beforeAll(async () => {
  [telegram, model] = await Promise.all([
    startTelegramDouble(),
    startModelDouble({ reply: plansAndDoes }),
  ]);
  mkdirSync(root, { recursive: true });
  const { processes } = embedded(
    root,
    {
      owners: [`telegram:${ANN}`],
      model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
      channels: { telegram: { token: telegram.token, apiRoot: telegram.apiRoot, pace: false } },
      http: { port: 0 },
    },
    () => {},
  );
  [parley] = processes;
  parley?.start();
});
afterAll(async () => {
  parley?.abandon();
  await Promise.all([telegram.close(), model.close()]);
  rmSync(root, { recursive: true, force: true });
});

/** Plans a job for whoever asks for one, and does what is due. */
function plansAndDoes({ messages }: ChatRequest) {
  const newest = textOf(messages.at(-1));
  if (newest.includes('The time of the job')) return 'Now: tea';
  if (messages.at(-1)?.role === 'tool') return 'planned';
  const asksForIt = newest.includes('tea, please');
  return asksForIt ? { toolCalls: [{ name: 'cron', arguments: JOB }] } : 'hello';
}

const said = (words: string) =>
  telegram.conversation(ANN).filter(({ from, text }) => from === 'bot' && text === words).length;
const until = (words: string) => telegram.waitFor(() => said(words) > 0, TIMEOUT_MS);

it('[H08] [D04] a job whose process dies between its time and its turn is done once', async () => {
  telegram.say({ chat: ANN, text: 'tea, please' });
  await until('planned');
  await parley?.tell({ point: 'job-fired', nth: 1 });
  await until('Now: tea');
  expect(parley?.kills).toBe(1);
  telegram.say({ chat: ANN, text: 'anything else?' });
  await until('hello');
  expect(said('Now: tea')).toBe(1);
}, 120_000);
