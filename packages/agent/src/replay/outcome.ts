import { z } from 'zod';
import { StepUsage } from '../loop/turn-journal.ts';

/** A tool call of a recorded or a replayed turn; `arguments` is JSON as the model wrote it. */
export const ReplayedCall = z.object({ name: z.string(), arguments: z.string() });
export type ReplayedCall = z.infer<typeof ReplayedCall>;

/** What a model did in a turn: its answer, its calls in order, and what that cost. */
export const ReplayedAnswer = z.object({
  text: z.string(),
  calls: z.array(ReplayedCall),
  /** The sum over all model calls; null if the turn recorded none. */
  usage: StepUsage.nullable(),
  /** The time spent waiting for the model, in ms; null if it is not recorded. */
  latencyMs: z.number().nullable(),
  /** The model that answered, as `provider/model`. */
  model: z.string(),
});
export type ReplayedAnswer = z.infer<typeof ReplayedAnswer>;

const amounts = { before: z.number(), after: z.number() };

/**
 * One difference between the recorded and the replayed turn. `text`, `calls`, `order` and `request`
 * make a turn *changed*; `tokens`, `money` and `latency` only measure it.
 */
export const ReplayChange = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('text'), before: z.string(), after: z.string() }),
  /** Calls that only one side made. */
  z.object({
    kind: z.literal('calls'),
    removed: z.array(ReplayedCall),
    added: z.array(ReplayedCall),
  }),
  /** Both sides made the same calls, in another order. */
  z.object({
    kind: z.literal('order'),
    before: z.array(z.string()),
    after: z.array(z.string()),
  }),
  z.object({
    kind: z.literal('tokens'),
    of: z.enum(['input', 'output', 'cached']),
    ...amounts,
  }),
  /** In US dollars; null if no price is known. */
  z.object({
    kind: z.literal('money'),
    before: z.number().nullable(),
    after: z.number().nullable(),
  }),
  /** In ms. */
  z.object({ kind: z.literal('latency'), ...amounts }),
  /**
   * A part of the first request: a layer (`layer soul-file`), a tool (`tool read`), or a message
   * (`message 3`). Null on the side that lacks it.
   */
  z.object({
    kind: z.literal('request'),
    part: z.string(),
    before: z.string().nullable(),
    after: z.string().nullable(),
  }),
]);
export type ReplayChange = z.infer<typeof ReplayChange>;

/** The facts that every outcome names. */
const turn = {
  turnId: z.string(),
  conversationId: z.string(),
  /** When the turn's first request was built, in ms. */
  at: z.number(),
  /** What the people wrote, as an owner may read it; empty if it is no longer kept. */
  question: z.string(),
  /**
   * True if the turn was resumed, for instance after an approval. Its prompt was then built anew,
   * and only the first one is recorded: later requests of the replay use the first one.
   */
  resumed: z.boolean(),
};

/** What a record lacks, so that a request could not be built again. */
export const MissingFact = z.enum([
  /** No prompt is recorded, or it is too old. */
  'record',
  /** The turn's messages or its journal are too old. */
  'messages',
  /** A file that a message brought; its bytes are kept for a day. */
  'files',
  /** Text that a person asked to forget. */
  'forgotten',
  /** The earlier conversation is not what it was, or the settings that bound it have changed. */
  'history',
  /** Settings that decide who reads the turn, or the format of its answer, have changed. */
  'settings',
]);
export type MissingFact = z.infer<typeof MissingFact>;

/**
 * How the replay of a turn ended:
 * - `same`: request, text and calls are those of the record.
 * - `changed`: at least one of them is not.
 * - `diverged`: the model made a call that the record cannot answer.
 * - `incomplete`: the record lacks something that the request needs; nothing was guessed.
 * - `failed`: the model, a limit or a spend cap gave no answer.
 */
export const ReplayOutcome = z.discriminatedUnion('kind', [
  z.object({
    ...turn,
    kind: z.literal(['same', 'changed']),
    before: ReplayedAnswer,
    /** Null if the model was not asked (`--dry-run`). */
    after: ReplayedAnswer.nullable(),
    changes: z.array(ReplayChange),
  }),
  z.object({
    ...turn,
    kind: z.literal('diverged'),
    before: ReplayedAnswer,
    /** What the model had done by then, without the unknown call. */
    after: ReplayedAnswer,
    changes: z.array(ReplayChange),
    call: ReplayedCall,
  }),
  z.object({
    ...turn,
    kind: z.literal('incomplete'),
    missing: MissingFact,
    /** What is missing, and what to do about it, as a sentence. */
    hint: z.string(),
  }),
  z.object({
    ...turn,
    kind: z.literal('failed'),
    before: ReplayedAnswer,
    code: z.string(),
    reason: z.string(),
  }),
]);
export type ReplayOutcome = z.infer<typeof ReplayOutcome>;

/** The result of `parley replay --json`: one number for each kind of outcome, and all outcomes. */
export const ReplayReport = z.object({
  same: z.number(),
  changed: z.number(),
  diverged: z.number(),
  incomplete: z.number(),
  failed: z.number(),
  turns: z.array(ReplayOutcome),
});
export type ReplayReport = z.infer<typeof ReplayReport>;

export function createReplayReport(turns: readonly ReplayOutcome[]): ReplayReport {
  const count = (kind: ReplayOutcome['kind']) => turns.filter((one) => one.kind === kind).length;
  return {
    same: count('same'),
    changed: count('changed'),
    diverged: count('diverged'),
    incomplete: count('incomplete'),
    failed: count('failed'),
    turns: [...turns],
  };
}
