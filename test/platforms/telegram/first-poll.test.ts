import { registerHooks } from 'node:module';
import { Worker } from 'node:worker_threads';
import { telegram } from '@parley/channel-telegram';
import { realEnv } from '@parley/channels';
import { afterEach, expect, it } from 'vitest';
import { coreAround } from '../adapter-core.ts';

/** A Bot API in a thread of its own: it counts polls also while this thread loads a library. */
const SERVER = `
  const { createServer } = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  const polls = new Int32Array(workerData);
  const ME = { id: 1, is_bot: true, first_name: 'Bot', username: 'test_bot' };
  const chat = { id: 501, type: 'private', first_name: 'Ann' };
  const message = { message_id: 1, date: 1, chat, from: { id: 501, first_name: 'Ann' }, text: 'early' };
  createServer((request, response) => {
    const method = request.url.split('/').at(-1);
    if (method === 'getUpdates') {
      Atomics.add(polls, 0, 1);
      Atomics.notify(polls, 0);
    }
    const updates = Atomics.load(polls, 0) === 1 ? [{ update_id: 1, message }] : [];
    const result = method === 'getMe' ? ME : method === 'getUpdates' ? updates : true;
    request.resume().on('end', () => setTimeout(() => {
      response.end(JSON.stringify({ ok: true, result }));
    }, 20));
  }).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port); });
`;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

it('[F03] asks Telegram for messages before it loads telegraf, which reads what the first poll brings', async () => {
  const shared = new SharedArrayBuffer(4);
  const polls = new Int32Array(shared);
  const server = new Worker(SERVER, { eval: true, workerData: shared });
  ends.push(() => server.terminate());
  const port = await new Promise<number>((resolve) => server.once('message', resolve));
  /** Whether a poll had arrived, each time telegraf was loaded. */
  const loads: string[] = [];
  const hooks = registerHooks({
    load(url, context, next) {
      if (/\/telegraf\/lib\/index\.js$/.test(url)) loads.push(Atomics.wait(polls, 0, 0, 10_000));
      return next(url, context);
    },
  });
  ends.push(() => hooks.deregister());
  const { told, context } = coreAround(
    { token: '1:a', apiRoot: `http://127.0.0.1:${port}` },
    () => {},
  );
  const connect = await telegram.load();
  const adapter = connect(context, realEnv);
  ends.push(() => adapter.stop());
  expect(loads).toEqual([]);
  await adapter.start();
  await expect
    .poll(() => told.received.map(({ text }) => text), { timeout: 20_000 })
    .toEqual(['early']);
  // `timed-out`: this thread was busy with telegraf while no poll had left.
  expect(loads).toEqual([expect.stringMatching(/^(ok|not-equal)$/)]);
});
