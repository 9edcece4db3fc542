import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ChatRequest, getMessageText } from '../model/chat-request.ts';
import { EMBEDDED_FOLDERS } from './deployment.ts';
import { startTelegramVictim, type TelegramVictim } from './telegram-victim.ts';

const BO = 502;
const LANE = `telegram:default:${BO}`;
const TIMEOUT_MS = 60_000;

const [folder] = EMBEDDED_FOLDERS;
let victim: TelegramVictim;
beforeAll(async () => {
  victim = await startTelegramVictim({
    channel: { access: { direct: 'allowlist', allow: [BO] } },
    settings: { owners: ['telegram:501'], lanes: { collectPauseMs: 30 } },
    reply: ({ messages }: ChatRequest) =>
      `You said: ${getMessageText(messages.at(-1)).split('\n').at(-1)}`,
  });
});
afterAll(() => victim?.close());

/**
 * Retries until a running process responds; a process killed in the meantime may already have
 * carried out the request.
 */
async function perform(operation: string, input: object): Promise<Record<string, unknown>> {
  const late = Date.now() + TIMEOUT_MS;
  for (;;) {
    try {
      const at = (name: string) => readFileSync(join(victim.root, folder, name), 'utf8');
      const { address } = JSON.parse(at('gateway.json'));
      const answer = await fetch(`${address}/api/conversations/${operation}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${at('token').trim()}` },
        body: JSON.stringify(input),
      });
      const body = await answer.text();
      if (answer.ok) return JSON.parse(body);
      if (answer.status < 500) throw new TypeError(`${operation}: ${body}`);
    } catch (error) {
      if (Date.now() > late) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const said = () =>
  victim.telegram
    .conversation(BO)
    .filter(({ from }) => from === 'bot')
    .map(({ text }) => text);
const until = (count: number) => victim.telegram.waitFor(() => said().length >= count, TIMEOUT_MS);
const kills = (count: number) =>
  expect.poll(() => victim.parley.kills, { timeout: TIMEOUT_MS }).toBe(count);
const led = async () => {
  const { conversations } = await perform('list', {});
  return JSON.parse(JSON.stringify(conversations))[0];
};

it('[U12] [D01] [D04] a takeover survives a crash: new messages wait, a reply is sent once, and the agent later has both in its history', async () => {
  const { telegram, model, parley } = victim;
  telegram.say({ chat: BO, text: 'hello' });
  await until(1);
  await perform('take-over', { conversationId: LANE });

  await parley.tell({ point: 'inbox-committed', nth: 1 });
  telegram.say({ chat: BO, text: 'is anyone there?' });
  await kills(1);
  expect(await led()).toMatchObject({ waiting: 1, takenOver: { by: 'The owner' } });

  await parley.tell({ point: 'part-sending', nth: 1 });
  const reply = { conversationId: LANE, text: 'I am', as: 'self', requestId: 'r1' };
  await perform('reply', reply);
  await kills(2);
  expect(await perform('reply', reply)).toMatchObject({ isRepeated: true });
  await until(2);
  expect(await led()).toMatchObject({ waiting: 0, takenOver: { by: 'The owner' } });
  expect(model.requests).toHaveLength(1);

  telegram.say({ chat: BO, text: 'thanks' });
  await expect.poll(async () => (await led()).waiting, { timeout: TIMEOUT_MS }).toBe(1);
  await parley.tell({ point: 'turn-claimed', nth: 1 });
  await perform('hand-back', { conversationId: LANE });
  await kills(3);
  await until(3);
  expect(said()).toEqual(['You said: hello', 'The owner: I am', 'You said: thanks']);
  const known = JSON.stringify(model.requests.at(-1)?.body.messages);
  expect(known).toMatch(/is anyone there\?.*an owner, wrote this here.*I am.*thanks/);
}, 180_000);
