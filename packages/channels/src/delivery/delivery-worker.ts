import { setTimeout as sleep } from 'node:timers/promises';
import { startSweep, type WakeUpQueue } from '@parley/queue';
import type { ChatKey } from '@parley/store';
import { type DeliveryDeps, deliverChat } from './deliver-chat.ts';
import { createPacer } from './pacer.ts';

/** Deliveries of one channel account: chats in parallel, each chat in order. */
export interface DeliveryWorker {
  /** Sends what is due as far as `graceMs` allows, then ends sends that are under way. */
  close(graceMs: number): Promise<void>;
}

/** Which account, and how it is woken. */
export interface DeliveryWorkerOptions {
  readonly channel: string;
  readonly account: string;
  readonly queue: WakeUpQueue;
  /** Chats served at the same time. */
  readonly concurrency: number;
  readonly sweepMs: number;
}

const SWEEP_BATCH = 500;
/** When to ask again for a chat that an earlier run has not left yet. */
const STILL_SENDING_MS = 500;
/** How often to look, at the end, whether all that is due has been sent. */
const LOOK_AGAIN_MS = 10;

/** Starts delivering, and sweeps for parts whose wake-up was lost. */
export async function startDeliveryWorker(
  deps: Omit<DeliveryDeps, 'wake' | 'pacer'>,
  options: DeliveryWorkerOptions,
): Promise<DeliveryWorker> {
  const { channel, account, queue } = options;
  const wake = (chatId: string): Promise<void> => queue.kick(chatId);
  const pacer = createPacer(deps.capabilities.rates);
  const busy = new Set<string>();
  const worker = await queue.work(async (chatId, signal) => {
    // A stalled job may be handed out again while its first run is still sending.
    if (busy.has(chatId)) return STILL_SENDING_MS;
    busy.add(chatId);
    const chat: ChatKey = { channel, account, chatId };
    try {
      return await deliverChat({ ...deps, wake, pacer }, chat, signal);
    } finally {
      busy.delete(chatId);
    }
  }, options.concurrency);
  const due = (limit: number) => deps.outbox.chatsWithWork(channel, account, deps.clock(), limit);
  const sweep = startSweep(
    `deliveries ${channel}/${account}`,
    options.sweepMs,
    deps.log,
    async () => {
      for (const { chatId } of await due(SWEEP_BATCH)) await wake(chatId);
    },
  );
  return {
    async close(graceMs) {
      const until = performance.now() + graceMs;
      await sweep.stop();
      // The answer of a turn that has just been finished may not have been taken up yet.
      while (performance.now() < until && (await due(1)).length > 0) await sleep(LOOK_AGAIN_MS);
      await worker.close(Math.max(0, until - performance.now()));
    },
  };
}
