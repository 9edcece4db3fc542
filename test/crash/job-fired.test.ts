import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ChatRequest, getMessageText } from '../model/chat-request.ts';
import { startTelegramVictim, type TelegramVictim } from './telegram-victim.ts';

const ANN = 501;
const TIMEOUT_MS = 60_000;
const JOB = { action: 'add', task: 'tea', at: 'in 3 s' };

let victim: TelegramVictim;
beforeAll(async () => {
  victim = await startTelegramVictim({
    settings: { owners: [`telegram:${ANN}`] },
    reply: plansAndDoes,
  });
});
afterAll(() => victim?.close());

/** A model that schedules a job on request, and performs due jobs. */
function plansAndDoes({ messages }: ChatRequest) {
  const newest = getMessageText(messages.at(-1));
  if (newest.includes('The time of the job')) return 'Now: tea';
  if (messages.at(-1)?.role === 'tool') return 'planned';
  const asksForIt = newest.includes('tea, please');
  return asksForIt ? { toolCalls: [{ name: 'cron', arguments: JOB }] } : 'hello';
}

const said = (words: string) =>
  victim.telegram.conversation(ANN).filter(({ from, text }) => from === 'bot' && text === words)
    .length;
const until = (words: string) => victim.telegram.waitFor(() => said(words) > 0, TIMEOUT_MS);

it('[H08] [D04] a job runs once although its process is killed between its due time and its turn', async () => {
  const { telegram, parley } = victim;
  telegram.say({ chat: ANN, text: 'tea, please' });
  await until('planned');
  await parley.tell({ point: 'job-fired', nth: 1 });
  await until('Now: tea');
  expect(parley.kills).toBe(1);
  telegram.say({ chat: ANN, text: 'anything else?' });
  await until('hello');
  expect(said('Now: tea')).toBe(1);
}, 120_000);
