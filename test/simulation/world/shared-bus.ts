import type { LiveBus } from '@parley/core';
import type { BusOptions, OpenLiveBus } from '../../../packages/queue/src/local-bus.ts';
import { getSharedServers } from './servers-now.ts';

/**
 * The live bus between simulated processes. Like the Redis bus, it may lose and delay events, and
 * it does not store them.
 */
export async function openRedisBus(_options: BusOptions, local: LiveBus): Promise<OpenLiveBus> {
  const servers = getSharedServers();
  const leave = servers.listen((event) => local.publish(event));
  return {
    subscribe: local.subscribe,
    publish(event) {
      local.publish(event);
      // Message parts are passed on only within a process; other processes read the outbox.
      servers.tell(event.type === 'delivery-due' ? { ...event, fresh: undefined } : event);
    },
    async close() {
      leave();
    },
  };
}
