import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { startTelegramDouble } from '@parley/simulators/telegram';
import { expect, it, onTestFinished } from 'vitest';

it('[F03] Telegram is polled before telegraf is loaded, which then reads the result of that poll', async () => {
  const double = await startTelegramDouble();
  onTestFinished(() => double.close());
  double.say({ chat: 501, text: 'early' });
  const polls = new Int32Array(new SharedArrayBuffer(4));
  double.transcript.changes.onChange(() => {
    if (double.transcript.firstArrival('getUpdates') === undefined) return;
    Atomics.store(polls, 0, 1);
    Atomics.notify(polls, 0);
  });
  const settings = { token: double.token, apiRoot: double.apiRoot };
  const script = new URL('./first-poll-thread.ts', import.meta.url);
  const thread = new Worker(script, { workerData: { settings, polls } });
  const [told] = await once(thread, 'message');
  thread.postMessage('stop');
  await once(thread, 'exit');
  expect(told).toEqual({
    before: [],
    loads: [expect.stringMatching(/^(?:ok|not-equal)$/)],
    received: ['early'],
  });
});
