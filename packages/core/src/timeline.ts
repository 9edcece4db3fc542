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

/** One thing that happened to a message. Times in ms. */
export interface TimelineEntry {
  readonly stage: (typeof TIMELINE_STAGES)[number];
  /** Null where it was not recorded. */
  readonly at: number | null;
  /** Its duration in ms, where it took time. */
  readonly ms: number | null;
  /** For people; no text, arguments or results of tools. */
  readonly text: string;
  /** Names what only the owner may know: servers, people, reasons of failures. */
  readonly detail?: string | undefined;
  /** Something went wrong here, or has not happened yet. */
  readonly mark?: 'trouble' | 'open' | undefined;
}

/** A message as people find it. */
export interface MessageName {
  readonly channel: string;
  readonly account: string;
  readonly chatId: string;
  readonly messageId: string;
  /** When Parley learned of it. */
  readonly at: number;
}

/** A message in a list, with what people know it by. Texts are private. */
export interface RecentMessage extends MessageName {
  /** Its author; null: Parley itself, or it was not taken. */
  readonly from: string | null;
  /** The title of the chat. */
  readonly chat: string;
  /** Null: it was not taken. */
  readonly conversationId: string | null;
  /** Empty for a message that was not taken: nothing of it is stored. */
  readonly text: string;
}

/** All that is known of what became of one message (D08). */
export interface Timeline {
  readonly message: MessageName;
  /** The turn that took it. */
  readonly turnId: string | null;
  /** Whether its prompt is kept, for `parley prompt --turn`. */
  readonly hasPrompt: boolean;
  /** In one sentence what became of it: an answer, or the exact reason for silence. */
  readonly verdict: string;
  /** The part of the verdict that only the owner may know. */
  readonly detail?: string | undefined;
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[];
}

/** The result of looking for a message. */
export type WhyAnswer =
  | { readonly kind: 'found'; readonly timeline: Timeline }
  /** Several are meant; newest first. */
  | { readonly kind: 'several'; readonly candidates: readonly MessageName[] }
  | { readonly kind: 'unknown' };

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
 * The facts of a step of a turn for people (D08): names, numbers and outcomes, never text of
 * people, arguments or results. Times in ms.
 */
export const StepFacts = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('model'),
    /** The model that answered, as `provider/model`. */
    model: z.string(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    /** From the request until the first piece of the answer. */
    firstTokenMs: z.number().optional(),
    /** The model that was asked first, where another one has answered. */
    insteadOf: z.string().optional(),
    /** Times it was asked, where that was more than once. */
    asked: z.number().optional(),
    /** The provider's output limit or content filter ended the answer. */
    ended: z.enum(['length', 'content-filter']).optional(),
    /** The tools it asked for, by name. */
    calls: z.array(z.string()).readonly(),
    /** Characters of its reasoning, and calls that it wrote into its text and that were not run. */
    thoughtCharacters: z.number().optional(),
    droppedCalls: z.number().optional(),
  }),
  z.object({
    kind: z.literal('tool'),
    tool: z.string(),
    outcome: z.enum(['done', 'failed', 'not-run']),
    /** The key of the call in the journal of its turn. */
    call: z.string().optional(),
  }),
]);
export type StepFacts = z.infer<typeof StepFacts>;
