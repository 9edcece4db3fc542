import { type LiveBus, type LiveEvent, type Logger, reasonOf } from '@parley/core';
import type { RedisLocation } from './redis-location.ts';

export interface BusOptions extends RedisLocation {
  /** The address: `memory:` for one process, `redis://…` between processes. */
  readonly url: string;
  readonly log: Logger;
  /**
   * Which events to receive from other processes: `turns` (turn progress and deliveries) is for
   * gateways, `orders` for workers; if absent, both.
   */
  readonly receives?: 'turns' | 'orders' | undefined;
}

/** A live bus to close when the process ends; events published later stay in this process. */
export interface OpenLiveBus extends LiveBus {
  close(): Promise<void>;
}

/**
 * Creates a live bus within one process, which calls its listeners synchronously in the order in
 * which they subscribed.
 */
export function createLocalBus(log: Logger): LiveBus {
  const listeners = new Set<(event: LiveEvent) => void>();
  return {
    publish(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          log.error({ event: event.type, reason: reasonOf(error) }, 'a live event listener failed');
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
