import { type BackendOptions, openBackend } from './backend.ts';
import type { RedisPlace } from './redis-place.ts';
import { openWakeUpQueue, type QueueDepth, type WakeUpQueue } from './wake-up-queue.ts';

/** The queues of one installation: one for lanes, one for schedules, one for the deliveries of each channel account. */
export interface Queues {
  readonly lanes: WakeUpQueue;
  readonly schedules: WakeUpQueue;
  deliveries(channel: string, account: string): WakeUpQueue;
  /** How full each queue that this process uses is, by its name. Rejects when the queue is down. */
  depths(): Promise<ReadonlyMap<string, QueueDepth>>;
  close(): Promise<void>;
}

/** Where to open the queues. */
export interface QueuesOptions extends RedisPlace, BackendOptions {
  /** `memory:` for one process, `redis://…` between processes. */
  readonly url: string;
}

/** Opens the queues. Throws QueueError for an address that is not known. */
export async function openQueues(options: QueuesOptions): Promise<Queues> {
  const backend = await openBackend(options, options);
  const open = new Map<string, WakeUpQueue>();
  const named = (name: string): WakeUpQueue => {
    const known = open.get(name);
    if (known) return known;
    const queue = openWakeUpQueue(name, backend, options.log);
    open.set(name, queue);
    return queue;
  };
  return {
    lanes: named('lanes'),
    schedules: named('schedules'),
    deliveries: (channel, account) => named(`deliveries-${channel}-${account}`),
    async depths() {
      const all = [...open].map(async ([name, queue]) => [name, await queue.depth()] as const);
      return new Map(await Promise.all(all));
    },
    async close() {
      await Promise.all([...open.values()].map((queue) => queue.close()));
      await backend.close();
    },
  };
}
