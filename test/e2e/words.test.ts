import { startTelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type CloseFunctions,
  NOTE,
  noted,
  startInProcess,
  startWritingModel,
} from './approval-scene.ts';

const ANN = 501;
const BO = 502;

const closing: CloseFunctions = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function onTelegram() {
  const [telegram, model] = await Promise.all([startTelegramDouble(), startWritingModel(closing)]);
  closing.push(() => telegram.close());
  const access = { direct: 'allowlist', allow: [BO] };
  const settings = {
    owners: [`telegram:${ANN}`],
    approvals: { ask: ['write', 'current_time'] },
    channels: {
      telegram: { token: telegram.token, apiRoot: telegram.apiRoot, pace: false, access },
    },
  };
  const parley = await startInProcess(model, settings, closing);
  const said = (chat: number) =>
    telegram.conversation(chat).flatMap(({ from, text }) => (from === 'bot' ? [text] : []));
  const until = (chat: number, words: string) =>
    telegram.waitFor(() => said(chat).some((text) => text.includes(words)));
  return { telegram, model, parley, said, until };
}

describe('messages with a special meaning on Telegram', () => {
  it('[F09] include a menu command, after which messages are answered in the new session', async () => {
    const { telegram, model, until } = await onTelegram();
    telegram.say({ chat: ANN, text: 'my cat is called Kim' });
    await until(ANN, 'You said: my cat is called Kim');
    telegram.say({ chat: ANN, text: `/new@${telegram.me.username} plan a picnic\nfor six` });
    await until(ANN, 'A fresh start');
    await until(ANN, 'You said: for six');
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain('plan a picnic');
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).not.toContain('Kim');
    telegram.say({ chat: BO, text: '/start spring_campaign' });
    await until(BO, 'You said: spring_campaign');
  });

  it('[F09] [G05] include a "yes" from the approver right after the request, but not longer text', async () => {
    const { telegram, parley, said, until } = await onTelegram();
    telegram.say({ chat: ANN, text: 'please note it' });
    await until(ANN, 'May I use');
    telegram.say({ chat: ANN, text: 'yes, but only the first line' });
    await until(ANN, 'Nothing is decided');
    expect(noted(parley)).toBeNull();
    telegram.say({ chat: ANN, text: 'Yes.' });
    await until(ANN, 'Allowed: write');
    await until(ANN, 'It said: ');
    expect(noted(parley)).toBe(NOTE);
    await until(ANN, 'You said: yes, but only the first line');
    expect(said(ANN).filter((text) => text.includes('May I use'))).toHaveLength(1);
  });

  it('[G05] exclude a "yes" from the person who asked, because the owner decides', async () => {
    const { telegram, until } = await onTelegram();
    telegram.say({ chat: ANN, text: 'hello' });
    await until(ANN, 'You said: hello');
    telegram.say({ chat: BO, text: 'what time is it' });
    await until(ANN, 'may I use');
    telegram.say({ chat: BO, text: 'yes' });
    telegram.say({ chat: ANN, text: 'nein, danke' });
    await until(ANN, 'Refused: current_time');
    await until(BO, 'the person who was asked said no');
    await until(BO, 'You said: yes');
  });
});
