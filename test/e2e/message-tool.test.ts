import { isDueToday } from '@parley/core/testing';
import { startTelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, it } from 'vitest';
import { type ChatRequest, getMessageText, listToolNames } from '../model/chat-request.ts';
import { startModelDouble } from '../model/index.ts';
import { type CloseFunctions, startInProcess, startSeparately } from './approval-scene.ts';
import { createWebClient } from './web-client.ts';

const ANN = 501;
const BO = 502;
const GROUP = -5;

const closing: CloseFunctions = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const question = ({ messages }: ChatRequest) =>
  getMessageText(messages.findLast(({ role }) => role === 'user'))
    .split('\n')
    .at(-1) ?? '';
const results = ({ messages }: ChatRequest) =>
  messages.flatMap((message) => (message.role === 'tool' ? [getMessageText(message)] : []));

/**
 * A model that sends the text after `tell NAME:` to that chat and reports the result. `startIn`
 * decides where Parley runs: in a separate process if the test kills it.
 */
async function onTelegram(startIn: typeof startInProcess) {
  const [telegram, model] = await Promise.all([startTelegramDouble(), startModelDouble()]);
  closing.push(
    () => telegram.close(),
    () => model.close(),
  );
  model.reply((request) => {
    const asked = question(request);
    const [, to = '', text = ''] = /tell ([\w:]+): (.*)/.exec(asked) ?? [];
    const [result] = results(request).slice(-1);
    if (to === '') return `You said: ${asked}`;
    if (result !== undefined && request.messages.at(-1)?.role === 'tool') return `Done. ${result}`;
    return { toolCalls: [{ name: 'message', arguments: { to, text } }] };
  });
  const settings = {
    owners: [`telegram:${ANN}`],
    tools: { message: { chats: { family: { channel: 'telegram', chat: GROUP } } } },
    channels: {
      telegram: {
        token: telegram.token,
        apiRoot: telegram.apiRoot,
        pace: false,
        access: { direct: 'allowlist', allow: [BO], allowGroups: [GROUP] },
      },
    },
  };
  const parley = await startIn(model, settings, closing);
  const said = (chat: number) =>
    telegram
      .conversation(chat)
      .filter(({ from }) => from === 'bot')
      .map(({ text }) => text);
  const until = (chat: number, words: string) =>
    telegram.waitFor(() => said(chat).some((text) => text.includes(words)));
  return { telegram, model, parley, said, until };
}

describe('a message to another chat', () => {
  it('[G02] [G05] goes to a group named in the settings once the owner has read and approved it', async () => {
    // A normal run kills Parley every third day; on other days it is shut down gracefully.
    const startIn: typeof startInProcess = isDueToday(2, 3) ? startSeparately : startInProcess;
    const { telegram, model, parley, said, until } = await onTelegram(startIn);
    telegram.say({ chat: GROUP, from: BO, text: 'hi @parley_test_bot' });
    await until(GROUP, 'You said');
    telegram.say({ chat: ANN, text: 'tell family: **Dinner** at eight, @bo <all>' });
    await until(ANN, 'May I use');
    expect(said(ANN)[0]).toContain('Dinner');
    expect(said(GROUP)).toHaveLength(1);
    // The resumed run is killed right after it sends the approved message.
    const code = /\/approve (\w{6})/.exec(said(ANN)[0] ?? '')?.[1];
    telegram.say({ chat: ANN, text: `/approve ${code}` });
    await until(GROUP, 'Dinner');
    await parley.restart();
    await until(ANN, 'Done. Your message to family is on its way');
    telegram.say({ chat: GROUP, from: BO, text: 'why so late? @parley_test_bot' });
    await until(GROUP, 'why so late');
    const dinners = said(GROUP).filter((text) => text.includes('Dinner'));
    // The message must not ping anyone (M05).
    expect(dinners).toEqual(['⚙️ Dinner at eight, @\u200Bbo <all>']);
    const last = JSON.stringify(model.requests.at(-1)?.body.messages.at(-1));
    expect(last).toContain('Dinner');
  });

  it("[G02] [W02] reaches another of the owner's chats without approval, and groups do not have the tool", async () => {
    const { telegram, model, parley, said, until } = await onTelegram(startInProcess);
    telegram.say({ chat: ANN, text: 'hello' });
    await until(ANN, 'You said');
    const web = createWebClient(parley.process());
    await web.post('tell owner: the keys are under the mat');
    await until(ANN, 'the keys are under the mat');
    expect(said(ANN)).toEqual(['You said: hello', 'the keys are under the mat']);
    telegram.say({ chat: GROUP, from: ANN, text: 'tell owner: spam @parley_test_bot' });
    await until(GROUP, 'Done.');
    expect(said(GROUP).at(-1)).toContain('There is no tool');
    expect(model.requests.slice(-2).flatMap(({ body }) => listToolNames(body))).not.toContain(
      'message',
    );
    expect(said(ANN)).toHaveLength(2);
  });
});
