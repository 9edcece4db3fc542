import { startTelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, it } from 'vitest';
import { startModelDouble } from '../model/index.ts';
import { findFreePort } from '../services/free-port.ts';
import { startParleyInProcess } from './parley-here.ts';
import { makeDataFolder } from './parley-process.ts';

const ANN = 501;
const SECRET = 'a-secret-of-this-webhook';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0).reverse()) await end();
});

describe('a gateway with a Telegram webhook', () => {
  it("[D01] accepts messages only from Telegram, without the gateway's access token", async () => {
    // The gateway's address must be registered with Telegram before the gateway starts.
    const port = await findFreePort();
    const hook = `http://127.0.0.1:${port}/channels/telegram/default`;
    const telegram = await startTelegramDouble({ webhookTarget: hook });
    const model = await startModelDouble();
    model.reply(async () => 'heard');
    cleanUp.push(
      () => telegram.close(),
      () => model.close(),
    );
    const folder = makeDataFolder({
      owners: [`telegram:${ANN}`],
      model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
      http: { port },
      channels: {
        telegram: {
          token: telegram.token,
          apiRoot: telegram.apiRoot,
          webhook: { url: 'https://bots.example.org/hook', secret: SECRET },
        },
      },
    });
    cleanUp.push(folder.remove);
    const parley = await startParleyInProcess(folder.path);
    cleanUp.push(() => parley.end());
    const message = telegram.say({ chat: ANN, text: 'naïve текст 😀' });
    const answer = await telegram.waitFor(
      () => telegram.conversation(ANN).find(({ from }) => from === 'bot'),
      10_000,
    );
    expect(answer.text).toBe('heard');
    expect(telegram.calls('getUpdates')).toEqual([]);

    const forged = JSON.stringify({ update_id: 1, message: { ...message, message_id: 99 } });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(hook, { method: 'POST', body: forged, headers });
    expect(response.status).toBe(401);
    expect(parley.out() + parley.err()).not.toContain(SECRET);
  });
});
