import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '@parley/contracts';
import { startSweep, type WakeUpQueue } from '@parley/queue';
import type { ChatKey } from '@parley/store';
import { type DeliveryDeps, deliverChat } from './deliver-chat.ts';
import { createPacer, type PacedChat } from './pacer.ts';

/** Deliveries of one channel account: chats in parallel, each chat in order. */
export interface DeliveryWorker {
  /** Whether the rates leave room for a preview of an answer now; answers come first. */
  mayPreview(chat: PacedChat): boolean;
  /**
   * Sends what is due as far as `graceMs` allows, then ends sends that are under way. `hand-over`: what is
   * under way is the last, as somebody else sends the rest.
   */
  close(graceMs: number, rest?: 'hand-over'): Promise<void>;
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
  let isEnding = false;
  const sending = { ...deps, wake, pacer, isEnding: () => isEnding };
  const run = async (chatId: string, signal: AbortSignal): Promise<number | null> => {
    // A stalled job may be handed out again while its first run is still sending.
    if (busy.has(chatId)) return STILL_SENDING_MS;
    busy.add(chatId);
    const chat: ChatKey = { channel, account, chatId };
    try {
      return await deliverChat(sending, chat, signal);
    } finally {
      busy.delete(chatId);
    }
  };
  const due = (limit: number) => deps.outbox.chatsWithWork(channel, account, deps.clock(), limit);
  const worker = await queue.work(run, options.concurrency);
  const ending = new AbortController();
  // Wake-ups that a dead process was working on come back after seconds; what it left goes out before.
  const begin = async (chatId: string): Promise<void> => {
    if ((await run(chatId, ending.signal)) !== null) await wake(chatId);
  };
  const beginning = due(options.concurrency)
    .then((chats) => Promise.all(chats.map(({ chatId }) => begin(chatId))))
    .catch((error: unknown) => deps.log.warn({ reason: reasonOf(error) }, 'left to the sweep'));
  const sweep = startSweep(
    `deliveries ${channel}/${account}`,
    options.sweepMs,
    deps.log,
    async () => {
      for (const { chatId } of await due(SWEEP_BATCH)) await wake(chatId);
    },
  );
  return {
    mayPreview: (chat) => pacer.takeSpare(chat, deps.clock()),
    async close(graceMs, rest) {
      const until = performance.now() + graceMs;
      isEnding = rest === 'hand-over';
      await sweep.stop();
      // The answer of a turn that has just been finished may not have been taken up yet.
      while (!isEnding && performance.now() < until && (await due(1)).length > 0)
        await sleep(LOOK_AGAIN_MS);
      const left = Math.max(0, until - performance.now());
      const timer = setTimeout(() => ending.abort(), left);
      await Promise.all([worker.close(left), beginning]);
      clearTimeout(timer);
    },
  };
}
