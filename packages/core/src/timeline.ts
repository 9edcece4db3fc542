import { z } from 'zod';

/** The stages of the flow, in the order in which a message passes them. */
export const TIMELINE_STAGES = [
  'platform',
  'ingress',
  'access',
  'inbox',
  'lane',
  'turn',
  'prompt',
  'model',
  'approval',
  'tool',
  'commit',
  'outbox',
  'delivery',
  'receipt',
] as const;

/** One thing that happened to a message. Times in ms. */
export const TimelineEntry = z.object({
  stage: z.enum(TIMELINE_STAGES),
  /** Null where nobody noted it. */
  at: z.number().nullable(),
  /** How long it took, where it took time. */
  ms: z.number().nullable(),
  /** For people; no words of people, arguments or results of tools. */
  words: z.string(),
  /** Names what only the owner may know: servers, people, reasons of failures. */
  detail: z.string().optional(),
  /** Something went wrong here, or has not happened yet. */
  mark: z.enum(['trouble', 'open']).optional(),
});
export type TimelineEntry = Readonly<z.infer<typeof TimelineEntry>>;

/** A message as people find it. */
export const MessageName = z.object({
  channel: z.string(),
  account: z.string(),
  chatId: z.string(),
  messageId: z.string(),
  /** When Parley was told of it. */
  at: z.number(),
});
export type MessageName = Readonly<z.infer<typeof MessageName>>;

/** All that is known of what became of one message (D08). */
export const Timeline = z.object({
  message: MessageName,
  /** The turn that took it. */
  turnId: z.string().nullable(),
  /** Whether its prompt is kept, for `parley prompt --turn`. */
  hasPrompt: z.boolean(),
  /** In one sentence what became of it: an answer, or the exact reason for silence. */
  verdict: z.string(),
  /** What of the verdict only the owner may know. */
  detail: z.string().optional(),
  /** Oldest first. */
  entries: z.array(TimelineEntry).readonly(),
});
export type Timeline = Readonly<z.infer<typeof Timeline>>;

/** What looking for a message came to. */
export const WhyAnswer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('found'), timeline: Timeline }),
  /** Several are meant; newest first. */
  z.object({ kind: z.literal('several'), candidates: z.array(MessageName).readonly() }),
  z.object({ kind: z.literal('unknown') }),
]);
export type WhyAnswer = Readonly<z.infer<typeof WhyAnswer>>;

/** `telegram:42/7`, with the account where it is not the usual one: `telegram/work:42/7`. */
export function nameOfMessage({
  channel,
  account,
  chatId,
  messageId,
}: Omit<MessageName, 'at'>): string {
  const place = account === 'default' ? channel : `${channel}/${account}`;
  return `${place}:${chatId}/${messageId}`;
}

/**
 * What a step of a turn tells of itself for people (D08): names, numbers and outcomes, never words of
 * people, arguments or results. Times in ms.
 */
export const StepFacts = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('model'),
    /** Who answered, as `provider/model`. */
    model: z.string(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    /** From the request until the first piece of the answer. */
    firstTokenMs: z.number().optional(),
    /** The model that was asked first, where another one has answered. */
    insteadOf: z.string().optional(),
    /** Times it was asked, where that was more than once. */
    asked: z.number().optional(),
    /** The tools it asked for, by name. */
    calls: z.array(z.string()).readonly(),
  }),
  z.object({
    kind: z.literal('tool'),
    tool: z.string(),
    outcome: z.enum(['done', 'failed', 'not-run']),
  }),
]);
export type StepFacts = z.infer<typeof StepFacts>;
