import { Audience, type Clock } from '@parley/core';
import type { ModelToolCall } from '@parley/models';
import {
  type ClaimedTurn,
  type InboxRow,
  type JoinRules,
  type JournalStep,
  type LaneRepository,
  type Lease,
  type SpendAccount,
  type TurnRepository,
  toJoinedStep,
} from '@parley/store';
import { z } from 'zod';

export const StepUsage = z.object({
  model: z.string(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** The part of `inputTokens` that was read from the provider's cache. */
  cachedInputTokens: z.number().optional(),
  /**
   * How much a cached token counts towards caps, as a fraction of an uncached token; 1 when absent.
   */
  cachedShare: z.number().optional(),
  costUsd: z.number().nullable(),
});
export type StepUsage = z.infer<typeof StepUsage>;

/**
 * Adds up the usage of one or more steps. The total cost is known only if the cost of each step is.
 */
export function sumUsage(usages: readonly StepUsage[]): StepUsage {
  return usages.reduce((sum, one) => ({
    model: one.model,
    inputTokens: sum.inputTokens + one.inputTokens,
    outputTokens: sum.outputTokens + one.outputTokens,
    ...sumCachedUsage(sum, one),
    costUsd: sum.costUsd === null || one.costUsd === null ? null : sum.costUsd + one.costUsd,
  }));
}

/**
 * If different models answered, their fractions differ; the sum gets a fraction that yields the
 * same total.
 */
function sumCachedUsage(sum: StepUsage, one: StepUsage) {
  const both = [sum, one].map(({ cachedInputTokens = 0, cachedShare = 1 }) => ({
    cached: cachedInputTokens,
    counted: cachedInputTokens * cachedShare,
  }));
  const cachedInputTokens = both.reduce((all, { cached }) => all + cached, 0);
  const counted = both.reduce((all, each) => all + each.counted, 0);
  const isShared = cachedInputTokens > 0 && counted < cachedInputTokens;
  return { cachedInputTokens, ...(isShared && { cachedShare: counted / cachedInputTokens }) };
}

/**
 * Text from the model besides its answer, shown to people who debug a turn (P17). Debug text is
 * never sent to a model.
 */
const Aside = z.object({
  reasoning: z.string(),
  reasoningCharacters: z.number(),
  dropped: z.array(z.object({ raw: z.string(), problem: z.string() })).readonly(),
});

/**
 * The last step of a turn: the model's answer (G16). In a chat, the commit stores this step;
 * otherwise the journal stores it before the commit.
 */
export const FinalStep = z.object({
  kind: z.literal('answer'),
  text: z.string(),
  /** True if the answer is validated JSON for a program, from which no chat markup is removed. */
  isJson: z.literal(true).optional(),
  /** The sum over all steps. */
  usage: StepUsage,
  aside: Aside.optional(),
});
export type FinalStep = z.infer<typeof FinalStep>;

/** The answer that a crashed run had already received; null if the model must be called again. */
function findEarlierAnswer(steps: readonly JournalStep[]): FinalStep | null {
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

/**
 * A step in which the model called tools. The text may draw on any part of the prompt, hence
 * `audience`.
 */
const ModelStep = z.object({
  kind: z.literal('model'),
  text: z.string(),
  calls: z.array(Call),
  usage: StepUsage,
  audience: Audience,
  /** Why this answer does not match the response format. */
  misfit: z.string().optional(),
  /**
   * The provider's output limit ended this step. The next step continues the text, and the last
   * call of this step may be incomplete.
   */
  cut: z.literal(true).optional(),
  aside: Aside.optional(),
});
export type ModelStep = z.infer<typeof ModelStep>;

/** A call with side effects is about to run and must not be repeated after this step. */
const StartedStep = z.object({ kind: z.literal('started'), call: z.string() });

/**
 * A call that was started has not changed anything yet. The call runs again with this content,
 * which its tool has stored.
 */
const HeldStep = z.object({ kind: z.literal('held'), call: z.string(), content: z.unknown() });
type HeldStep = z.infer<typeof HeldStep>;

/** The outcome of a tool call. */
const ResultStep = z.object({
  kind: z.literal('result'),
  call: z.string(),
  text: z.string(),
  failed: z.boolean(),
  audience: Audience,
  /**
   * Whether outsiders may have written the text. Steps from older versions lack this field and
   * count as untrusted.
   */
  foreign: z.boolean().default(true),
});
export type ResultStep = z.infer<typeof ResultStep>;

/** The numbers of the messages that joined the turn after all earlier steps (D03). */
const JoinedStep = z.object({ kind: z.literal('joined'), messages: z.array(z.number()) });

const OpenedTool = z.object({
  group: z.string(),
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
});
/** A tool that the requests after this step offer, as it is sent, and its group. */
export type OpenedTool = z.infer<typeof OpenedTool>;

/** Tool groups were opened. The prompt record has only the tools of the first request. */
const OpenedStep = z.object({ kind: z.literal('opened'), tools: z.array(OpenedTool) });

const JournalEntry = z.discriminatedUnion('kind', [
  ModelStep,
  OpenedStep,
  StartedStep,
  HeldStep,
  ResultStep,
  JoinedStep,
]);
type JournalEntry = z.infer<typeof JournalEntry>;

export interface JournaledCall {
  /** The id of the call, identical in every run of the turn. */
  readonly key: string;
  readonly call: ModelToolCall;
  /**
   * True if the call may have changed something: its last start was not followed by held content.
   */
  readonly started: boolean;
  /** The content that the tool stored, in order. */
  readonly held: readonly unknown[];
  readonly result: ResultStep | null;
}

/** A model step, the outcomes of its calls, and the messages that joined before the next step. */
export interface TurnRound {
  readonly step: ModelStep;
  /**
   * Empty if other messages joined before the answer was sent, or if the answer did not match its
   * format.
   */
  readonly calls: readonly JournaledCall[];
  readonly joined: readonly InboxRow[];
}

export type JoinMessages = (steps: JoinRules['steps']) => ReturnType<LaneRepository['join']>;

/**
 * The journal of a turn, including earlier runs. Each step is stored before the next one starts
 * (G16).
 */
export interface TurnJournal {
  /** The answer that an earlier run had already received. */
  readonly answer: FinalStep | null;
  /** The rounds so far, oldest first. */
  rounds(): readonly TurnRound[];
  /** The total usage of these steps; null before the first. */
  spent(): StepUsage | null;
  /** The usage of those steps that has not been charged to any account yet. */
  uncounted(): StepUsage | null;
  /** The answer from this run, if the turn's commit stores it, which saves a write. */
  unstored(): JournalStep | undefined;
  /** Returns false if the lease was lost; the run must then stop. */
  append(step: JournalEntry | FinalStep, timing?: JournalStep['timing']): Promise<boolean>;
  /** The messages that joined the turn, in order. */
  joined(): readonly InboxRow[];
  /** The tools of the groups that were opened during the turn, in order. */
  opened(): readonly OpenedTool[];
  /**
   * Adds waiting messages to the turn. The joined messages are stored together with their step and
   * with `answer`, which is then no longer the last text.
   */
  join(ask: JoinMessages, answer?: TimedAnswer): Promise<'joined' | 'none' | 'fenced'>;
}

export interface TimedAnswer {
  readonly step: ModelStep;
  readonly timing: NonNullable<JournalStep['timing']>;
}

export interface JournalDeps {
  readonly turns: Pick<TurnRepository, 'appendStep'>;
  readonly clock: Clock;
  /** True if the turn's commit stores the answer; otherwise the journal does. */
  readonly answerWithCommit?: boolean;
  /**
   * The account that is charged for each completed step. If it is absent, the turn's commit charges
   * for all steps.
   */
  readonly account?: SpendAccount;
}

/** Opens the journal for a claimed turn. */
export function openJournal(
  { turnId, steps, messages }: Pick<ClaimedTurn, 'turnId' | 'steps' | 'messages'>,
  lease: Lease,
  deps: JournalDeps,
): TurnJournal {
  const all: JournalStep[] = [...steps];
  let unstored: JournalStep | undefined;
  const known = new Map(messages.map((row) => [row.seq, row]));
  // Cached, because rounds are read many times between two steps.
  let read: readonly TurnRound[] | null = null;
  const rounds = () => {
    read ??= parseRounds(turnId, all, known);
    return read;
  };
  const keep = (...steps: readonly JournalStep[]): void => {
    all.push(...steps);
    read = null;
  };
  const spent = () => {
    const usages = rounds().map(({ step }) => step.usage);
    return usages.length === 0 ? null : sumUsage(usages);
  };
  const next = (content: JournalEntry | FinalStep, place = 0): JournalStep => {
    const index = (all.at(-1)?.index ?? -1) + 1 + place;
    return { index, content, ...toSettlement(content), ...toSpending(content, deps.account) };
  };
  return {
    answer: findEarlierAnswer(steps),
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
    opened: () =>
      parseJournalSteps(all).flatMap(({ step }) => (step.kind === 'opened' ? step.tools : [])),
    async join(ask, answer) {
      let stored: readonly JournalStep[] = [];
      const result = await ask((rows) => {
        const index = (all.at(-1)?.index ?? -1) + (answer === undefined ? 1 : 2);
        const step = toJoinedStep(index, rows);
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

/**
 * The approval's record includes how its call ended, which is stored in the same transaction (G05).
 */
function toSettlement(content: JournalEntry | FinalStep): Pick<JournalStep, 'settles'> {
  if (content.kind !== 'result') return {};
  return { settles: { callKey: content.call, failed: content.failed } };
}

/**
 * Charges a step when it is stored, so that a stopped turn is charged for its completed steps
 * (G17).
 */
function toSpending(
  content: JournalEntry | FinalStep,
  account: JournalDeps['account'],
): Pick<JournalStep, 'spends'> {
  if (content.kind !== 'model' || account === undefined) return {};
  return { spends: { account, usage: content.usage } };
}

/** Parses steps into rounds. Unknown steps from other versions are skipped. */
function parseRounds(
  turnId: string,
  steps: readonly JournalStep[],
  known: ReadonlyMap<number, InboxRow>,
): TurnRound[] {
  const read = parseJournalSteps(steps);
  const begun = read.flatMap(({ step }) =>
    step.kind === 'started' || step.kind === 'held' ? [step] : [],
  );
  const results = new Map(
    read.flatMap(({ step }) => (step.kind === 'result' ? [[step.call, step] as const] : [])),
  );
  return read.flatMap(({ index, step }, at) => {
    if (step.kind !== 'model') return [];
    const calls = step.calls.map((call, nth): JournaledCall => {
      const key = `${turnId}.${index}.${nth}`;
      return { key, call, ...findCallStart(begun, key), result: results.get(key) ?? null };
    });
    return [
      {
        step,
        calls,
        joined: listMessagesJoinedAfter(read, at).flatMap((seq) => known.get(seq) ?? []),
      },
    ];
  });
}

function findCallStart(
  begun: readonly (z.infer<typeof StartedStep> | HeldStep)[],
  key: string,
): Pick<JournaledCall, 'started' | 'held'> {
  const own = begun.filter(({ call }) => call === key);
  const held = own.flatMap((step) => (step.kind === 'held' ? [step.content] : []));
  return { started: own.at(-1)?.kind === 'started', held };
}

interface ParsedJournalEntry {
  readonly index: number;
  readonly step: JournalEntry;
}

function parseJournalSteps(steps: readonly JournalStep[]): ParsedJournalEntry[] {
  return steps.flatMap(({ index, content }) => {
    const parsed = JournalEntry.safeParse(content);
    return parsed.success ? [{ index, step: parsed.data }] : [];
  });
}

/** The messages that joined between a model step and the next one. */
function listMessagesJoinedAfter(read: readonly ParsedJournalEntry[], at: number): number[] {
  const end = read.findIndex(({ step }, index) => index > at && step.kind === 'model');
  const between = read.slice(at + 1, end === -1 ? undefined : end);
  return between.flatMap(({ step }) => (step.kind === 'joined' ? step.messages : []));
}

/** The messages that a turn started with, without those that joined it later (D03). */
export function listStartMessages(
  messages: readonly InboxRow[],
  steps: readonly JournalStep[],
): readonly InboxRow[] {
  if (steps.length === 0) return messages;
  const later = new Set(
    parseJournalSteps(steps).flatMap(({ step }) => (step.kind === 'joined' ? step.messages : [])),
  );
  return messages.filter(({ seq }) => !later.has(seq));
}
