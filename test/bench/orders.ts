import { z } from 'zod';

/** What others do while quiet people are watched. */
export const Disturbance = z.discriminatedUnion('kind', [
  /** One chat writes so many messages, so many a second. */
  z.object({ kind: z.literal('flood'), messages: z.int(), perSecond: z.number() }),
  /** So many chats write one message each that the model thinks about for so long. */
  z.object({ kind: z.literal('slow-model'), chats: z.int(), seconds: z.int() }),
  /** The platform refuses all that is sent to a person or a group, for so long. */
  z.object({ kind: z.literal('limited'), place: z.enum(['person', 'group']), seconds: z.int() }),
]);
export type Disturbance = z.infer<typeof Disturbance>;

/** What the benchmark asks of the process with the people; each order has one result. */
export const Order = z.discriminatedUnion('kind', [
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
export type Order = z.infer<typeof Order>;
