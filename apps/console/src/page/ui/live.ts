import { type ReadonlySignal, signal } from '@preact/signals';
import { createContext } from 'preact';

/**
 * Counts changes reported by the gateway; null if this person does not receive events, in which
 * case views poll instead.
 */
export const LiveChanges = createContext<ReadonlySignal<number | null>>(signal(null));

/** Access to the page's visibility and to timers. */
export interface Visibility {
  isHidden(): boolean;
  /** Calls back whenever the visibility may have changed. */
  onChange(listener: () => void): void;
  /** Calls `task` once after `ms`. */
  later(task: () => void, ms: number): void;
}

/** The minimum interval (ms) between reloads, regardless of how many changes are reported. */
const PAUSE_MS = 1_000;

/**
 * Combines reported changes: the first change triggers a reload immediately, later changes trigger
 * one after a pause. While the page is hidden, there are no reloads.
 */
export function createLiveChanges({ isHidden, onChange, later }: Visibility) {
  const count = signal<number | null>(null);
  let isDue = false;
  let isPausing = false;
  const look = (): void => {
    if (!isDue || isPausing || isHidden()) return;
    isDue = false;
    isPausing = true;
    count.value = (count.peek() ?? 0) + 1;
    later(() => {
      isPausing = false;
      look();
    }, PAUSE_MS);
  };
  const note = (): void => {
    isDue = true;
    look();
  };
  onChange(look);
  return {
    count,
    note,
    /**
     * Reports a new connection, with or without events. Changes before the new connection may have
     * been missed.
     */
    follow(hasEvents: boolean): void {
      if (hasEvents) note();
      else {
        isDue = false;
        count.value = null;
      }
    },
  };
}
