import { startTelegramDouble } from '@parley/simulators/telegram';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { getMessageText } from '../model/chat-request.ts';
import { startModelDouble } from '../model/index.ts';
import { findFreePort } from '../services/free-port.ts';
import { openDeployment } from './deployment.ts';

const [redisUrl, postgresUrl] = [inject('redisUrl'), inject('postgresUrl')];
const ANN = 501;
const SECRET = 'a-secret-of-this-webhook';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0).reverse()) await end();
});

describe.runIf(redisUrl && postgresUrl)('a webhook shared by several gateways', () => {
  it('[D09] [D01] may call a standby gateway, which accepts its updates once and in order', async () => {
    const port = await findFreePort();
    const hook = `http://127.0.0.1:${port}/channels/telegram/default`;
    const telegram = await startTelegramDouble({ webhookTarget: hook });
    cleanUp.push(() => telegram.close());
    const model = await startModelDouble();
    cleanUp.push(() => model.close());
    model.reply(
      ({ messages }) => `You said: ${getMessageText(messages.at(-1)).split('\n').at(-1)}`,
    );
    const deployment = await openDeployment(
      { redisUrl: redisUrl ?? '', postgresUrl: postgresUrl ?? '' },
      {
        owners: [`telegram:${ANN}`],
        model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
        lanes: { collectPauseMs: 0, busy: 'followup' },
        channels: {
          telegram: {
            token: telegram.token,
            apiRoot: telegram.apiRoot,
            webhook: { url: 'https://bots.example.org/hook', secret: SECRET },
          },
        },
      },
    );
    cleanUp.push(() => deployment.close());
    const owner = await deployment.startApart('gateway');
    await deployment.start('gateway', port);
    await deployment.start('worker');
    const answers = () =>
      telegram
        .conversation(ANN)
        .filter(({ from }) => from === 'bot')
        .map(({ text }) => text);
    for (const text of ['one', 'two', 'three']) telegram.say({ chat: ANN, text });
    await telegram.waitFor(() => answers().length === 3, 20_000);
    expect(answers()).toEqual(['You said: one', 'You said: two', 'You said: three']);

    const forged = { method: 'POST', body: '{"update_id":1}' };
    expect((await fetch(hook, forged)).status).toBe(401);

    await owner.end('SIGKILL');
    telegram.say({ chat: ANN, text: 'four' });
    await telegram.waitFor(() => answers().length === 4, 30_000);
    expect(answers().at(-1)).toBe('You said: four');
  });
});
