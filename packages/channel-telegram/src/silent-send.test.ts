import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { connectTelegramApi } from './api.ts';
import { connectTelegram } from './bot.ts';
import { createCaller } from './calls.ts';
import { toCallFailure } from './failures.ts';
import { TelegramSettings } from './settings.ts';

const SILENT_MS = 400;
const SENT = '{"ok":true,"result":{"message_id":7}}';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/**
 * Starts a Bot API server that answers with the given function after it has received the whole
 * request.
 */
async function apiThat(answer: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(response));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const settings = TelegramSettings.parse({
    token: '1:a',
    apiRoot: `http://127.0.0.1:${port}`,
  });
  const { token } = settings;
  const telegram = connectTelegram(token, createCaller(settings), new AbortController().signal);
  return connectTelegramApi(createCaller(settings), async () => ({ telegram }), SILENT_MS);
}

const TEXT = { chat_id: 1, text: 'hi' };
const FILE = { chat_id: 1, document: new File(['bytes'], 'a.txt') };

describe('sending to Telegram', () => {
  it.each([
    ['a text', 'sendMessage', TEXT],
    ['a file', 'sendDocument', FILE],
  ])(
    '[D13] reports an unknown outcome for %s once no byte moves on its connection',
    async (_what, method, payload) => {
      const api = await apiThat(() => {});
      const sending = api.send(method, payload, new AbortController().signal);
      const failure = await sending.catch(toCallFailure);
      expect(failure).toMatchObject({ kind: 'unknown' });
    },
  );

  it('[D13] may take longer than the idle limit while data is transferred', async () => {
    const api = await apiThat(async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (const character of SENT) {
        response.write(character);
        await sleep(SILENT_MS / 10);
      }
      response.end();
    });
    expect(await api.send('sendMessage', TEXT, new AbortController().signal)).toBe('7');
  });

  it('[D13] accepts a response that arrived while the process was suspended', async () => {
    const api = await apiThat((response) => {
      response.setHeader('content-type', 'application/json').end(SENT);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SILENT_MS * 2);
    });
    expect(await api.send('sendMessage', TEXT, new AbortController().signal)).toBe('7');
  });

  it('[D13] hands its connection to the next call without the idle limit', async () => {
    let calls = 0;
    const api = await apiThat(async (response) => {
      calls += 1;
      if (calls > 1) await sleep(SILENT_MS * 2);
      response.setHeader('content-type', 'application/json').end(SENT);
    });
    const { signal } = new AbortController();
    await api.send('sendMessage', TEXT, signal);
    expect(await api.call('getChat', {}, signal)).toEqual({ message_id: 7 });
  });
});
