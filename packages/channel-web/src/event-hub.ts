import type { WebEvent } from './web-event.ts';

/** Hands events to everybody who watches a chat right now. Keeps nothing: the tables are the history. */
export interface EventHub {
  publish(chatId: string, event: WebEvent): void;
  /** Returns the function that ends watching. */
  watch(chatId: string, listener: (event: WebEvent) => void): () => void;
  /** Whether anybody watches; what nobody sees need not be drawn. */
  isWatched(chatId: string): boolean;
}

/** Makes an empty hub. */
export function createEventHub(): EventHub {
  const watchers = new Map<string, Set<(event: WebEvent) => void>>();
  return {
    publish(chatId, event) {
      for (const listener of [...(watchers.get(chatId) ?? [])]) listener(event);
    },
    watch(chatId, listener) {
      const listeners = watchers.get(chatId) ?? new Set();
      listeners.add(listener);
      watchers.set(chatId, listeners);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) watchers.delete(chatId);
      };
    },
    isWatched: (chatId) => watchers.has(chatId),
  };
}
