import { z } from 'zod';

/** The stages of the flow, in the order in which a message passes them. */
const TIMELINE_STAGES = [
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

/** An event in the history of a message. Times are in ms. */
export interface TimelineEntry {
  readonly stage: (typeof TIMELINE_STAGES)[number];
  /** When the event happened; null if that was not recorded. */
  readonly at: number | null;
  /** The duration in ms, if the event took time. */
  readonly ms: number | null;
  /** Text for people, which does not include message text, tool arguments or tool results. */
  readonly text: string;
  /** Details that only the owner may know: names of servers and people, reasons for failures. */
  readonly detail?: string | undefined;
  /** `trouble`: the event is a failure. `open`: the event has not happened yet. */
  readonly mark?: 'trouble' | 'open' | undefined;
}

/** A message, identified as people refer to it. */
export interface MessageName {
  readonly channel: string;
  readonly account: string;
  readonly chatId: string;
  readonly messageId: string;
  /** When Parley received it. */
  readonly at: number;
}

/**
 * A message in a list, with the fields by which people recognize it. The text fields are private.
 */
export interface RecentMessage extends MessageName {
  /** The author; null for Parley itself, and for a message that was not accepted. */
  readonly from: string | null;
  /** The title of the chat. */
  readonly chat: string;
  /** Null if the message was not accepted. */
  readonly conversationId: string | null;
  /** Empty for a message that was not accepted, because its text is not stored. */
  readonly text: string;
}

/** The recorded history of one message (D08). */
export interface Timeline {
  readonly message: MessageName;
  /** The turn that claimed the message. */
  readonly turnId: string | null;
  /** Whether the prompt of the turn is still stored, for `parley prompt --turn`. */
  readonly hasPrompt: boolean;
  /** One sentence with the outcome: an answer, or the exact reason for silence. */
  readonly verdict: string;
  /** The part of the verdict that only the owner may know. */
  readonly detail?: string | undefined;
  /** The events, oldest first. */
  readonly entries: readonly TimelineEntry[];
}

/** The result of searching for a message. */
export type WhyAnswer =
  | { readonly kind: 'found'; readonly timeline: Timeline }
  /** Several messages match, listed newest first. */
  | { readonly kind: 'several'; readonly candidates: readonly MessageName[] }
  | { readonly kind: 'unknown' };

/**
 * A reference such as `telegram:42/7`, or `telegram/work:42/7` for an account other than the
 * default.
 */
export function formatMessageName({
  channel,
  account,
  chatId,
  messageId,
}: Omit<MessageName, 'at'>): string {
  const place = account === 'default' ? channel : `${channel}/${account}`;
  return `${place}:${chatId}/${messageId}`;
}

/**
 * The facts about a turn's step for people (D08): names, numbers and outcomes, never text that
 * people wrote, arguments or results. Times are in ms.
 */
export const StepInfo = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('model'),
    /** The model that answered, as `provider/model`. */
    model: z.string(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    /** The time from the request to the first fragment of the answer. */
    firstTokenMs: z.number().optional(),
    /** The model that was called first, if another model answered. */
    insteadOf: z.string().optional(),
    /** How many times the model was called, if more than once. */
    asked: z.number().optional(),
    /** Set if the provider's output limit or content filter ended the answer. */
    ended: z.enum(['length', 'content-filter']).optional(),
    /** The names of the tools that the model called. */
    calls: z.array(z.string()).readonly(),
    /**
     * The length of the reasoning in characters, and the number of calls that the model wrote into
     * its text and that did not run.
     */
    thoughtCharacters: z.number().optional(),
    droppedCalls: z.number().optional(),
  }),
  z.object({
    kind: z.literal('tool'),
    tool: z.string(),
    outcome: z.enum(['done', 'failed', 'not-run']),
    /** What the tool changes; absent in steps from before this was recorded. */
    effect: z.enum(['read', 'write', 'external']).optional(),
    /** The key of the call in the journal of its turn. */
    call: z.string().optional(),
  }),
]);
export type StepInfo = z.infer<typeof StepInfo>;
