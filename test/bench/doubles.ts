import { z } from 'zod';
import { startChild } from './processes.ts';

const TelegramLocation = z.object({ apiRoot: z.string(), token: z.string() });
const ModelPlace = z.object({ baseUrl: z.string() });
const Load = z.object({ latencies: z.array(z.number()), ms: z.number() });
/**
 * The latencies of people who wrote concurrently, in ms from writing to the arrival of each answer,
 * and the total time.
 */
export type LoadResult = z.infer<typeof Load>;
const Steady = z.object({ latencies: z.array(z.number()), unanswered: z.number() });
/** The latencies of people who write occasionally. */
export type SteadyResult = z.infer<typeof Steady>;

/** A Telegram for one bot, with people who write to it. */
export interface TelegramSide {
  readonly apiRoot: string;
  readonly token: string;
  /** When the first poll arrived, in ms since 1970; waits for it. */
  firstPoll(): Promise<number>;
  /**
   * One person sends each message `pauseMs` after the previous answer; returns the ms to each
   * answer.
   */
  oneByOne(messages: number, pauseMs?: number): Promise<number[]>;
  /**
   * Keeps many chats waiting for one answer each, until `messages` are written or `ms` have passed.
   */
  sideBySide(chats: number, messages: number, ms: number): Promise<LoadResult>;
  /**
   * Simulates quiet people for `ms`: each writes, waits for the answer, and pauses for about
   * `pauseMs`.
   */
  steady(chats: number, ms: number, pauseMs: number): Promise<SteadyResult>;
  /** Starts a disturbance; resolves as soon as it has started. */
  disturb(disturbance: Disturbance): Promise<void>;
  /** Simulates a day of a busy installation within `ms`. */
  day(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** The chat of `oneByOne`; all other chats are numbered from 1. */
const SINGLE_CHAT = 1_000;

/** Starts a Telegram with no history. */
export async function startTelegramSide(): Promise<TelegramSide> {
  const child = startChild('telegram-process.ts');
  const place = TelegramLocation.parse(await child.ask());
  const ask = (order: DoubleOrder) => child.ask(order);
  return {
    ...place,
    firstPoll: async () => z.number().parse(await ask({ kind: 'first-poll' })),
    oneByOne: async (messages, pauseMs = 2) => {
      const order = { kind: 'one-by-one', chat: SINGLE_CHAT, messages, pauseMs } as const;
      return z.array(z.number()).parse(await ask(order));
    },
    sideBySide: async (chats, messages, ms) =>
      Load.parse(await ask({ kind: 'side-by-side', chats, messages, ms })),
    steady: async (chats, ms, pauseMs) =>
      Steady.parse(await ask({ kind: 'steady', chats, ms, pauseMs })),
    disturb: async (disturbance) => void (await ask({ kind: 'disturb', disturbance })),
    day: async (ms) => void (await ask({ kind: 'day', ms })),
    close: child.close,
  };
}

/** Starts the model used by all bots; it thinks for `latencyMs` before it answers. */
export async function startModelSide(latencyMs = 0) {
  const child = startChild('model-process.ts', [String(latencyMs)]);
  return { ...ModelPlace.parse(await child.ask()), close: child.close };
}

/** A disturbance caused by other people while quiet people are observed. */
export const Disturbance = z.discriminatedUnion('kind', [
  /** One chat writes this many messages at this rate. */
  z.object({ kind: z.literal('flood'), messages: z.int(), perSecond: z.number() }),
  /** Each of these chats writes one message that the model thinks about for this long. */
  z.object({ kind: z.literal('slow-model'), chats: z.int(), seconds: z.int() }),
  /** The platform refuses everything sent to a person or a group for this long. */
  z.object({ kind: z.literal('limited'), place: z.enum(['person', 'group']), seconds: z.int() }),
  /** One chat sends several documents of this size together. */
  z.object({ kind: z.literal('files'), files: z.int(), megabytes: z.int() }),
]);
export type Disturbance = z.infer<typeof Disturbance>;

/** Requests from the benchmark to the process that simulates people; each has one result. */
export const DoubleOrder = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('first-poll') }),
  z.object({
    kind: z.literal('one-by-one'),
    chat: z.int(),
    messages: z.int(),
    pauseMs: z.number(),
  }),
  z.object({ kind: z.literal('side-by-side'), chats: z.int(), messages: z.int(), ms: z.number() }),
  z.object({ kind: z.literal('steady'), chats: z.int(), ms: z.number(), pauseMs: z.number() }),
  z.object({ kind: z.literal('disturb'), disturbance: Disturbance }),
  z.object({ kind: z.literal('day'), ms: z.number() }),
]);
export type DoubleOrder = z.infer<typeof DoubleOrder>;
