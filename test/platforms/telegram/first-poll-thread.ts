import { registerHooks } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { telegram } from '@parley/channel-telegram';
import { z } from 'zod';
import { createCore } from '../adapter-core.ts';

// A thread with its own adapter, in which telegraf was never loaded. The thread reports the
// received messages and, for each load of telegraf, whether a poll had arrived before; `timed-out`
// means that the load came first.

const TIMEOUT_MS = 10_000;
const { settings, polls } = z
  .object({ settings: z.object({}).loose(), polls: z.instanceof(Int32Array) })
  .parse(workerData);

const loads: string[] = [];
registerHooks({
  load(url, context, next) {
    if (/\/telegraf\/lib\/index\.js$/.test(url)) loads.push(Atomics.wait(polls, 0, 0, TIMEOUT_MS));
    return next(url, context);
  },
});
const connect = await telegram.load();
const before = [...loads];
const { told, context } = createCore(settings, () => {
  if (told.received.length > 0)
    parentPort?.postMessage({ before, loads, received: told.received.map(({ text }) => text) });
});
const adapter = connect(context);
parentPort?.once('message', () => adapter.stop().then(() => process.exit()));
await adapter.start();
