import type { LiveEvent } from '@parley/contracts';

/** Events that wait until the one before them has been sent. */
export interface EventBatch {
  add(event: LiveEvent): void;
  readonly isEmpty: boolean;
  /** All of them in order, and the batch is empty again. */
  take(): LiveEvent[];
}

/** Bounds what waits while Redis is slow; deltas come back with the answer anyway (D07). */
const MOST_EVENTS = 2_000;
const MOST_TEXT = 1_000_000;

/**
 * Joins the deltas of a turn that wait together: a slow Redis gets fewer, longer ones. What waits is
 * bounded; deltas are dropped first, and of the rest what is newest.
 */
export function createEventBatch(): EventBatch {
  let events: LiveEvent[] = [];
  let text = 0;
  /** By turn: where its last event stands. */
  let lastOf = new Map<string, number>();
  return {
    get isEmpty() {
      return events.length === 0;
    },
    add(event) {
      if (events.length >= MOST_EVENTS) return;
      if (!('turnId' in event)) {
        events.push(event);
        return;
      }
      if (event.type === 'turn-delta') {
        // Half of the room is for what begins, ends and stops turns.
        if (text + event.text.length > MOST_TEXT) return;
        text += event.text.length;
        const at = lastOf.get(event.turnId) ?? -1;
        const joined = join(events[at], event);
        if (joined !== null) {
          events[at] = joined;
          return;
        }
        if (events.length >= MOST_EVENTS / 2) return;
      }
      lastOf.set(event.turnId, events.push(event) - 1);
    },
    take() {
      const taken = events;
      events = [];
      lastOf = new Map();
      text = 0;
      return taken;
    },
  };
}

function join(
  earlier: LiveEvent | undefined,
  later: Extract<LiveEvent, { type: 'turn-delta' }>,
): LiveEvent | null {
  if (earlier?.type !== 'turn-delta' || earlier.step !== later.step) return null;
  if (earlier.replyToMessageId !== later.replyToMessageId) return null;
  return { ...earlier, text: earlier.text + later.text };
}
