import { Audience, type Clock } from '@parley/core';
import type { ModelToolCall } from '@parley/models';
import {
  type ClaimedTurn,
  type InboxRow,
  type Joining,
  type JournalStep,
  joinedStep,
  type LaneRepository,
  type Lease,
  type SpendAccount,
  type TurnRepository,
} from '@parley/store';
import { z } from 'zod';

/** The usage of asking the model. */
export const StepUsage = z.object({
  model: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** Those of `inputTokens` that the provider had in its cache. */
  cachedInputTokens: z.number().optional(),
  /** The share of a token that each cached one counts against caps; a whole token when absent. */
  cachedShare: z.number().optional(),
  costUsd: z.number().nullable(),
});
export type StepUsage = z.infer<typeof StepUsage>;

/** Adds up the usage of at least one step; the cost is known only where that of each step is. */
export function totalUsage(usages: readonly StepUsage[]): StepUsage {
  return usages.reduce((sum, one) => ({
    model: one.model,
    inputTokens: sum.inputTokens + one.inputTokens,
    outputTokens: sum.outputTokens + one.outputTokens,
    ...sumOfCached(sum, one),
    costUsd: sum.costUsd === null || one.costUsd === null ? null : sum.costUsd + one.costUsd,
  }));
}

/** Shares differ where another model took over: the sum has the one that counts the same. */
function sumOfCached(sum: StepUsage, one: StepUsage) {
  const both = [sum, one].map(({ cachedInputTokens = 0, cachedShare = 1 }) => ({
    cached: cachedInputTokens,
    counted: cachedInputTokens * cachedShare,
  }));
  const cachedInputTokens = both.reduce((all, { cached }) => all + cached, 0);
  const counted = both.reduce((all, each) => all + each.counted, 0);
  const isShared = cachedInputTokens > 0 && counted < cachedInputTokens;
  return { cachedInputTokens, ...(isShared && { cachedShare: counted / cachedInputTokens }) };
}

/** The model's text besides its answer, for people who look for a cause (P17); no model reads it. */
const Aside = z.object({
  reasoning: z.string(),
  reasoningCharacters: z.number(),
  dropped: z.array(z.object({ raw: z.string(), problem: z.string() })).readonly(),
});

/** The last step of a turn: the model's answer (G16). A chat's is stored by its commit, others before. */
export const FinalStep = z.object({
  kind: z.literal('answer'),
  text: z.string(),
  /** It is JSON that was checked, for a program: people's marks in it are not taken out. */
  isJson: z.literal(true).optional(),
  /** The sum over all steps. */
  usage: StepUsage,
  aside: Aside.optional(),
});
export type FinalStep = z.infer<typeof FinalStep>;

/** The answer a crashed run had already got, or null: then the model has to be asked. */
function answeredBefore(steps: readonly JournalStep[]): FinalStep | null {
  for (const step of steps) {
    const parsed = FinalStep.safeParse(step.content);
    if (parsed.success) return parsed.data;
  }
  return null;
}

const Call = z
  .object({
    id: z.string(),
    name: z.string(),
    arguments: z.string(),
    signature: z.string().optional(),
  })
  .transform(({ signature, ...call }): ModelToolCall => {
    return signature === undefined ? call : { ...call, signature };
  });

/** The model asked for tools. `audience`: what it said may come from anything it was shown. */
const ModelStep = z.object({
  kind: z.literal('model'),
  text: z.string(),
  calls: z.array(Call),
  usage: StepUsage,
  audience: Audience,
  /** It was an answer that does not fit the response format, and why. */
  misfit: z.string().optional(),
  /** The provider's output limit ended it: the next step goes on with its text, and its last call may not be whole. */
  cut: z.literal(true).optional(),
  aside: Aside.optional(),
});
export type ModelStep = z.infer<typeof ModelStep>;

/** A call that changes something is about to be run: from here on it must not be run again. */
const StartedStep = z.object({ kind: z.literal('started'), call: z.string() });

/** A call that was started has changed nothing yet, and is run again with this, which its tool has kept. */
const HeldStep = z.object({ kind: z.literal('held'), call: z.string(), content: z.unknown() });
type HeldStep = z.infer<typeof HeldStep>;

/** The outcome of a call. */
const ResultStep = z.object({
  kind: z.literal('result'),
  call: z.string(),
  text: z.string(),
  failed: z.boolean(),
  audience: Audience,
  /** Outsiders may have written it; what an older version wrote does not say. */
  foreign: z.boolean().default(true),
});
export type ResultStep = z.infer<typeof ResultStep>;

/** Messages, by their numbers, that joined the turn after all earlier steps (D03). */
const JoinedStep = z.object({ kind: z.literal('joined'), messages: z.array(z.number()) });

const Step = z.discriminatedUnion('kind', [
  ModelStep,
  StartedStep,
  HeldStep,
  ResultStep,
  JoinedStep,
]);
type Step = z.infer<typeof Step>;

/** One call of a tool in a turn. */
export interface JournalledCall {
  /** The same in every run of the turn. */
  readonly key: string;
  readonly call: ModelToolCall;
  /** It may have changed something: nothing was kept since it was started last. */
  readonly started: boolean;
  /** The content that its tool has kept, in order. */
  readonly held: readonly unknown[];
  readonly result: ResultStep | null;
}

/** A step of the model, the outcomes of its calls, and what people wrote before the next step. */
export interface Round {
  readonly step: ModelStep;
  /** None where it was an answer that other messages joined before it was sent, or one that did not fit. */
  readonly calls: readonly JournalledCall[];
  readonly joined: readonly InboxRow[];
}

/** Asks the store to give a turn what waits. */
export type AskToJoin = (steps: Joining['steps']) => ReturnType<LaneRepository['join']>;

/** The record of a turn, earlier runs included; each step is stored before the next is started (G16). */
export interface TurnJournal {
  /** The answer that an earlier run had got. */
  readonly answer: FinalStep | null;
  /** As of now, oldest first. */
  rounds(): readonly Round[];
  /** The usage of these steps; null before the first. */
  spent(): StepUsage | null;
  /** Usage of these steps that no account has been charged with yet. */
  uncounted(): StepUsage | null;
  /** The answer of this run where the commit of the turn stores it: nothing has to go on after that. */
  unstored(): JournalStep | undefined;
  /** False when the lease was lost: then nothing more may be done. */
  append(step: Step | FinalStep, timing?: JournalStep['timing']): Promise<boolean>;
  /** The messages that joined the turn, in their order. */
  joined(): readonly InboxRow[];
  /**
   * Lets messages join. They and their steps are stored together: `answer`, which is not
   * the last text then, and their place.
   */
  join(ask: AskToJoin, answer?: TimedAnswer): Promise<'joined' | 'none' | 'fenced'>;
}

/** The last answer of the model, and its time. */
export interface TimedAnswer {
  readonly step: ModelStep;
  readonly timing: NonNullable<JournalStep['timing']>;
}

/** The services of a journal. */
export interface JournalDeps {
  readonly turns: Pick<TurnRepository, 'appendStep'>;
  readonly clock: Clock;
  /** The commit of the turn stores its answer; without this the answer is stored before. */
  readonly answerWithCommit?: boolean;
  /** The account that pays for each step as it completes; without it the commit of the turn counts them all. */
  readonly account?: SpendAccount;
}

/** Opens the journal of a turn that was claimed. */
export function openJournal(
  { turnId, steps, messages }: Pick<ClaimedTurn, 'turnId' | 'steps' | 'messages'>,
  lease: Lease,
  deps: JournalDeps,
): TurnJournal {
  const all: JournalStep[] = [...steps];
  let unstored: JournalStep | undefined;
  const known = new Map(messages.map((row) => [row.seq, row]));
  // Asked for many times between two steps.
  let read: readonly Round[] | null = null;
  const rounds = () => {
    read ??= roundsOf(turnId, all, known);
    return read;
  };
  const keep = (...steps: readonly JournalStep[]): void => {
    all.push(...steps);
    read = null;
  };
  const spent = () => {
    const usages = rounds().map(({ step }) => step.usage);
    return usages.length === 0 ? null : totalUsage(usages);
  };
  const next = (content: Step | FinalStep, place = 0): JournalStep => {
    const index = (all.at(-1)?.index ?? -1) + 1 + place;
    return { index, content, ...settledCall(content), ...spending(content, deps.account) };
  };
  return {
    answer: answeredBefore(steps),
    rounds,
    spent,
    uncounted: () => (deps.account === undefined ? spent() : null),
    unstored: () => unstored,
    async append(content, timing) {
      const step = { ...next(content), ...(timing !== undefined && { timing }) };
      if (content.kind === 'answer' && deps.answerWithCommit === true) {
        unstored = step;
        return true;
      }
      const result = await deps.turns.appendStep(lease, turnId, step, deps.clock());
      if (result === 'fenced') return false;
      keep(step);
      return true;
    },
    joined: () => rounds().flatMap(({ joined }) => joined),
    async join(ask, answer) {
      let stored: readonly JournalStep[] = [];
      const result = await ask((rows) => {
        const index = (all.at(-1)?.index ?? -1) + (answer === undefined ? 1 : 2);
        const step = joinedStep(index, rows);
        stored =
          answer === undefined ? [step] : [{ ...next(answer.step), timing: answer.timing }, step];
        return stored;
      });
      if (result.kind !== 'joined') return result.kind;
      for (const row of result.rows) known.set(row.seq, row);
      keep(...stored);
      return 'joined';
    },
  };
}

/** The record of an approval learns how its call ended in the same breath (G05). */
function settledCall(content: Step | FinalStep): Pick<JournalStep, 'settles'> {
  if (content.kind !== 'result') return {};
  return { settles: { callKey: content.call, failed: content.failed } };
}

/** A turn that is stopped has used what its steps have (G17). */
function spending(
  content: Step | FinalStep,
  account: JournalDeps['account'],
): Pick<JournalStep, 'spends'> {
  if (content.kind !== 'model' || account === undefined) return {};
  return { spends: { account, usage: content.usage } };
}

/** Reads steps; what an other version wrote and this one does not know is passed over. */
function roundsOf(
  turnId: string,
  steps: readonly JournalStep[],
  known: ReadonlyMap<number, InboxRow>,
): Round[] {
  const read = readJournalSteps(steps);
  const begun = read.flatMap(({ step }) =>
    step.kind === 'started' || step.kind === 'held' ? [step] : [],
  );
  const results = new Map(
    read.flatMap(({ step }) => (step.kind === 'result' ? [[step.call, step] as const] : [])),
  );
  return read.flatMap(({ index, step }, at) => {
    if (step.kind !== 'model') return [];
    const calls = step.calls.map((call, nth): JournalledCall => {
      const key = `${turnId}.${index}.${nth}`;
      return { key, call, ...callStart(begun, key), result: results.get(key) ?? null };
    });
    return [{ step, calls, joined: joinedBehind(read, at).flatMap((seq) => known.get(seq) ?? []) }];
  });
}

function callStart(
  begun: readonly (z.infer<typeof StartedStep> | HeldStep)[],
  key: string,
): Pick<JournalledCall, 'started' | 'held'> {
  const own = begun.filter(({ call }) => call === key);
  const held = own.flatMap((step) => (step.kind === 'held' ? [step.content] : []));
  return { started: own.at(-1)?.kind === 'started', held };
}

interface ReadStep {
  readonly index: number;
  readonly step: Step;
}

function readJournalSteps(steps: readonly JournalStep[]): ReadStep[] {
  return steps.flatMap(({ index, content }) => {
    const parsed = Step.safeParse(content);
    return parsed.success ? [{ index, step: parsed.data }] : [];
  });
}

/** The messages that joined between a step of the model and the next one. */
function joinedBehind(read: readonly ReadStep[], at: number): number[] {
  const end = read.findIndex(({ step }, index) => index > at && step.kind === 'model');
  const between = read.slice(at + 1, end === -1 ? undefined : end);
  return between.flatMap(({ step }) => (step.kind === 'joined' ? step.messages : []));
}

/** The messages that a turn started with: without those that joined it later (D03). */
export function startedWith(
  messages: readonly InboxRow[],
  steps: readonly JournalStep[],
): readonly InboxRow[] {
  if (steps.length === 0) return messages;
  const later = new Set(
    readJournalSteps(steps).flatMap(({ step }) => (step.kind === 'joined' ? step.messages : [])),
  );
  return messages.filter(({ seq }) => !later.has(seq));
}
