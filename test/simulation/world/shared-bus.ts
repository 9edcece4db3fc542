import {
  type BusOptions,
  createLocalBus,
  type OpenBus,
} from '../../../packages/queue/src/local-bus.ts';
import { sharedServers } from './servers-now.ts';

/** The live bus between simulated processes. Like that of Redis it loses and delays, and keeps nothing. */
export async function openRedisBus({ log }: BusOptions): Promise<OpenBus> {
  const servers = sharedServers();
  const local = createLocalBus(log);
  const leave = servers.listen((event) => local.publish(event));
  return {
    subscribe: local.subscribe,
    publish(event) {
      local.publish(event);
      // Parts travel within a process only; the others read the outbox.
      servers.tell(event.type === 'delivery-due' ? { ...event, fresh: undefined } : event);
    },
    async close() {
      leave();
    },
  };
}
