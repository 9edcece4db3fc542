import { randomUUID } from 'node:crypto';
import { type LiveEvent, ReplyRoute } from '@parley/core';
import { z } from 'zod';
import {
  connectRedis,
  REDIS_UNREACHABLE,
  type RedisOutage,
  redisOutage,
  whenReady,
} from './connect-redis.ts';
import { type BusOptions, createLocalBus, type OpenBus, prefixOf } from './open-bus.ts';

type Topic = NonNullable<BusOptions['receives']>;

/** So often the listening connection, which otherwise owes no answer, is asked whether it lives. In ms. */
const PING_MS = 5_000;

/**
 * Live events between processes, by publish and subscribe of Redis: nothing is kept, so nothing can
 * grow. Listeners of this process hear its events at once and without Redis; from the others they come
 * in the order of their sending. Whatever is published while Redis is away is lost to the others.
 */
export async function openRedisBus(options: BusOptions): Promise<OpenBus> {
  const { log, receives } = options;
  const self = randomUUID();
  const local = createLocalBus(log);
  const outage = redisOutage('live events', options, log);
  const [out, into] = [connectRedis(options, 'ask'), connectRedis(options, 'listen')];
  for (const connection of [out, into]) outage.watch(connection);
  const channel = (topic: Topic): string => `${prefixOf(options)}:live:${topic}`;
  into.on('message', (_channel: string, text: string) => {
    for (const event of decodeEvents(self, text)) local.publish(event);
  });
  const topics: Topic[] = receives === undefined ? ['turns', 'orders'] : [receives];
  // Waits until Redis is there; whenever it comes back, the connection subscribes by itself.
  const subscribed = into
    .subscribe(...topics.map(channel))
    .catch((error: unknown) => void outage.note(error));
  const ping = setInterval(
    () => into.ping().catch((error: unknown) => void outage.note(error)),
    PING_MS,
  ).unref();
  const senders = {
    turns: createSender((text) => out.publish(channel('turns'), text), self, outage),
    orders: createSender((text) => out.publish(channel('orders'), text), self, outage),
  };
  if ((await whenReady(out)) && (await whenReady(into))) await subscribed;
  else outage.note(REDIS_UNREACHABLE);
  return {
    publish(event) {
      local.publish(event);
      senders[topicOf(event)].send(forOthers(event));
    },
    subscribe: local.subscribe,
    async close() {
      clearInterval(ping);
      await Promise.all([senders.turns.close(), senders.orders.close()]);
      for (const connection of [out, into]) connection.disconnect();
    },
  };
}

/** What workers obey; everything else is for gateways. */
const ORDERS: ReadonlySet<LiveEvent['type']> = new Set([
  'stop-turn',
  'message-waiting',
  'schedule-due',
]);

function topicOf({ type }: LiveEvent): Topic {
  return ORDERS.has(type) ? 'orders' : 'turns';
}

interface Sender {
  send(event: LiveEvent): void;
  /** Waits for what is under way; nothing is sent any more. */
  close(): Promise<void>;
}

/** One message at a time, so that what comes meanwhile waits together and is joined. */
function createSender(
  publish: (text: string) => Promise<unknown>,
  self: string,
  outage: RedisOutage,
): Sender {
  const batch = createEventBatch();
  let sending: Promise<void> | null = null;
  let isClosed = false;
  const sendAll = async (): Promise<void> => {
    while (!batch.isEmpty) {
      try {
        await publish(encodeEvents(self, batch.take()));
      } catch (error) {
        outage.note(error, 'live events do not reach other processes');
      }
    }
    // In the same breath as the last look at the batch: nothing can be added between the two.
    sending = null;
  };
  return {
    send(event) {
      if (isClosed) return;
      batch.add(event);
      sending ??= sendAll();
    },
    async close() {
      isClosed = true;
      await sending;
    },
  };
}

/** Events that wait until the one before them has been sent. */
export interface EventBatch {
  add(event: LiveEvent): void;
  readonly isEmpty: boolean;
  /** All of them in order, and the batch is empty again. */
  take(): LiveEvent[];
}

/** Bounds what waits while Redis is slow; deltas come back with the answer anyway (D07). */
const MAX_EVENTS = 2_000;
const MAX_TEXT = 1_000_000;

/**
 * Joins the deltas of a turn that wait together: a slow Redis gets fewer, longer ones. What waits is
 * bounded; deltas are dropped first, and of the rest what is newest.
 */
export function createEventBatch(): EventBatch {
  let events: LiveEvent[] = [];
  let text = 0;
  /** By turn: the place of its last event. */
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
        // Half of the room is for what begins, ends and stops turns.
        if (text + event.text.length > MAX_TEXT) return;
        text += event.text.length;
        const at = lastOf.get(event.turnId) ?? -1;
        const joined = join(events[at], event);
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

function join(
  earlier: LiveEvent | undefined,
  later: Extract<LiveEvent, { type: 'turn-delta' }>,
): LiveEvent | null {
  if (earlier?.type !== 'turn-delta' || earlier.step !== later.step) return null;
  if (earlier.replyToMessageId !== later.replyToMessageId) return null;
  return { ...earlier, text: earlier.text + later.text };
}

const turn = { conversationId: z.string(), turnId: z.string() };

/** Unknown keys are left away: during a rolling restart a newer version may say more. */
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
  z.object({ type: z.literal('schedule-due'), schedule: z.string() }),
]) satisfies z.ZodType<LiveEvent>;

const WireMessage = z.object({ from: z.string(), events: z.array(z.unknown()) });

/** The event without texts of the outbox: the gateway that sends them reads them there. */
export function forOthers(event: LiveEvent): LiveEvent {
  if (event.type !== 'delivery-due') return event;
  const { fresh: _, ...due } = event;
  return due;
}

/** What other processes are sent; `from` names the process, which knows its own events already. */
export function encodeEvents(from: string, events: readonly LiveEvent[]): string {
  return JSON.stringify({ from, events });
}

/** The events of another process; none when it is our own message or nothing that we understand. */
export function decodeEvents(self: string, text: string): LiveEvent[] {
  const message = WireMessage.safeParse(parsed(text));
  if (!message.success || message.data.from === self) return [];
  return message.data.events.flatMap((event) => {
    const known = WireEvent.safeParse(event);
    return known.success ? [known.data] : [];
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // No message of ours, and nothing hangs on a live event.
  }
}
