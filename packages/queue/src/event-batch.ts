import { type LiveEvent, ReplyRoute } from '@parley/core';
import { z } from 'zod';

/** Events that wait until the previous message has been sent. */
export interface EventBatch {
  add(event: LiveEvent): void;
  readonly isEmpty: boolean;
  /** Returns all events in order and empties the batch. */
  take(): LiveEvent[];
}

/**
 * The maximum number of events that wait while Redis is slow. Dropping deltas is harmless, because
 * the answer itself contains their text (D07).
 */
const MAX_EVENTS = 2_000;

const MAX_TEXT = 1_000_000;

/**
 * Joins a turn's waiting deltas, so that a slow Redis receives fewer but longer ones. The batch is
 * bounded: when it fills up, it first refuses deltas and then all new events.
 */
export function createEventBatch(): EventBatch {
  let events: LiveEvent[] = [];
  let text = 0;
  /** The index of the last event of each turn. */
  let lastOf = new Map<string, number>();
  return {
    get isEmpty() {
      return events.length === 0;
    },
    add(event) {
      if (events.length >= MAX_EVENTS) return;
      if (!('turnId' in event)) {
        events.push(event);
        return;
      }
      if (event.type === 'turn-delta') {
        // Deltas may fill only half of the batch; the rest is reserved for events that start, end
        // or stop turns.
        if (text + event.text.length > MAX_TEXT) return;
        text += event.text.length;
        const at = lastOf.get(event.turnId) ?? -1;
        const joined = mergeDeltas(events[at], event);
        if (joined !== null) {
          events[at] = joined;
          return;
        }
        if (events.length >= MAX_EVENTS / 2) return;
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

function mergeDeltas(
  earlier: LiveEvent | undefined,
  later: Extract<LiveEvent, { type: 'turn-delta' }>,
): LiveEvent | null {
  if (earlier?.type !== 'turn-delta' || earlier.step !== later.step) return null;
  if (earlier.replyToMessageId !== later.replyToMessageId) return null;
  return { ...earlier, text: earlier.text + later.text };
}

const turn = { conversationId: z.string(), turnId: z.string() };

/** Unknown keys are ignored, because a newer version may send them during a rolling restart. */
const WireEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('turn-started'),
    ...turn,
    route: ReplyRoute,
    messageId: z.string().exactOptional(),
    alsoAnswered: z.array(ReplyRoute).exactOptional(),
  }),
  z.object({
    type: z.literal('turn-delta'),
    ...turn,
    text: z.string(),
    step: z.int().exactOptional(),
    replyToMessageId: z.string().exactOptional(),
  }),
  z.object({
    type: z.literal('turn-ended'),
    ...turn,
    outcome: z.enum([
      'answered',
      'silent',
      'stopped',
      'failed',
      'fenced',
      'handed-back',
      'suspended',
      'put-off',
      'interrupted',
    ]),
  }),
  z.object({
    type: z.literal('tool-call'),
    ...turn,
    callId: z.string(),
    tool: z.string(),
    about: z.string(),
    state: z.enum(['running', 'done', 'failed']),
    ms: z.number(),
  }),
  z.object({ type: z.enum(['stop-turn', 'message-waiting']), conversationId: z.string() }),
  z.object({
    type: z.literal('delivery-due'),
    channel: z.string(),
    account: z.string(),
    chatId: z.string(),
  }),
  z.object({ type: z.literal('inbox-changed') }),
  z.object({ type: z.literal('schedule-due'), schedule: z.string() }),
]) satisfies z.ZodType<LiveEvent>;

const WireMessage = z.object({ from: z.string(), events: z.array(z.unknown()) });

/**
 * Removes the new outbox parts from the event; the gateway that sends the parts reads them from the
 * outbox.
 */
export function toRemoteEvent(event: LiveEvent): LiveEvent {
  if (event.type !== 'delivery-due') return event;
  const { fresh: _, ...due } = event;
  return due;
}

/**
 * Encodes events for other processes. `from` identifies the sender, which ignores its own messages.
 */
export function encodeEvents(from: string, events: readonly LiveEvent[]): string {
  return JSON.stringify({ from, events });
}

/**
 * Decodes events from another process. Returns no events for this process's own messages and for
 * invalid messages.
 */
export function decodeEvents(self: string, text: string): LiveEvent[] {
  const message = WireMessage.safeParse(parseEvent(text));
  if (!message.success || message.data.from === self) return [];
  return message.data.events.flatMap((event) => {
    const known = WireEvent.safeParse(event);
    return known.success ? [known.data] : [];
  });
}

function parseEvent(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The message is not from Parley; it can be ignored, because no work depends on a live event.
  }
}
