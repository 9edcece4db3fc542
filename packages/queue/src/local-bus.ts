import { type LiveBus, type LiveEvent, type Logger, reasonOf } from '@parley/core';
import type { RedisLocation } from './redis-location.ts';

/** The location and options of the bus. */
export interface BusOptions extends RedisLocation {
  /** `memory:` for one process, `redis://…` between processes. */
  readonly url: string;
  readonly log: Logger;
  /**
   * Events taken from other processes: `turns` are signs of life and deliveries, for gateways; `orders` are for
   * workers. Absent: both.
   */
  readonly receives?: 'turns' | 'orders' | undefined;
}

/** A live bus that is closed when its process ends; later events stay in this process. */
export interface OpenBus extends LiveBus {
  close(): Promise<void>;
}

/** The live bus of one process: calls its listeners at once, in the order of subscribing. */
export function createLocalBus(log: Logger): LiveBus {
  const listeners = new Set<(event: LiveEvent) => void>();
  return {
    publish(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          log.error({ event: event.type, reason: reasonOf(error) }, 'a live listener failed');
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
