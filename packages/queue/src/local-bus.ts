import { type LiveBus, type LiveEvent, type Logger, reasonOf } from '@parley/contracts';

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
