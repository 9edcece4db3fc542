import { type ReadonlySignal, signal } from '@preact/signals';
import { createContext } from 'preact';

/** Counts changes that the gateway has reported; null: this person gets no events, so views ask in intervals. */
export const LiveChanges = createContext<ReadonlySignal<number | null>>(signal(null));

/** The edges of a page that is seen or hidden. */
export interface Visibility {
  isHidden(): boolean;
  /** Calls back whenever that may have changed. */
  onChange(listener: () => void): void;
  /** Calls back once, after so many ms. */
  later(task: () => void, ms: number): void;
}

/** However many changes are reported, what is shown is loaded again after this at the earliest, in ms. */
const PAUSE_MS = 1_000;

/** Joins reported changes: at once, then once in a while, and not while the page is hidden. */
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
    /** Something changed. */
    note,
    /** There is a new connection, with events or without: what changed before it was missed. */
    follow(hasEvents: boolean): void {
      if (hasEvents) note();
      else {
        isDue = false;
        count.value = null;
      }
    },
  };
}
