import type { Logger } from '@parley/contracts';
import { openBackend } from './backend.ts';
import type { RedisPlace } from './redis-place.ts';
import { openWakeUpQueue, type WakeUpQueue } from './wake-up-queue.ts';

/** The queues of one installation: one for lanes, one for schedules, one for the deliveries of each channel account. */
export interface Queues {
  readonly lanes: WakeUpQueue;
  readonly schedules: WakeUpQueue;
  deliveries(channel: string, account: string): WakeUpQueue;
  close(): Promise<void>;
}

/** Where to open the queues. */
export interface QueuesOptions extends RedisPlace {
  /** `memory:` for one process, `redis://…` between processes. */
  readonly url: string;
  readonly log: Logger;
}

/** Opens the queues. Throws QueueError for an address that is not known. */
export async function openQueues(options: QueuesOptions): Promise<Queues> {
  const backend = await openBackend(options, options.log);
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
    async close() {
      await Promise.all([...open.values()].map((queue) => queue.close()));
      await backend.close();
    },
  };
}
