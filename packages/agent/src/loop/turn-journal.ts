import { Audience, type Clock } from '@parley/contracts';
import type { ModelToolCall } from '@parley/models';
import type { ClaimedTurn, JournalStep, Lease, SpendAccount, TurnRepository } from '@parley/store';
import { z } from 'zod';
import { answeredBefore, type FinalStep, StepUsage, totalUsage } from '../final-step.ts';

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
});
export type ModelStep = z.infer<typeof ModelStep>;

/** A call that changes something is about to be run: from here on it must not be run again. */
const BegunStep = z.object({ kind: z.literal('begun'), call: z.string() });

/** What came of a call. */
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

const Step = z.discriminatedUnion('kind', [ModelStep, BegunStep, ResultStep]);
type Step = z.infer<typeof Step>;

/** One call of a tool in a turn. */
export interface JournalledCall {
  /** The same in every run of the turn. */
  readonly key: string;
  readonly call: ModelToolCall;
  readonly begun: boolean;
  readonly result: ResultStep | null;
}

/** A step of the model and what became of its calls. */
export interface Round {
  readonly step: ModelStep;
  readonly calls: readonly JournalledCall[];
}

/** What a turn has done so far, also in earlier runs; each step is stored before the next is begun (G16). */
export interface TurnJournal {
  /** The answer that an earlier run had got. */
  readonly answer: FinalStep | null;
  /** As of now, oldest first. */
  rounds(): readonly Round[];
  /** What these have used; null before the first. */
  spent(): StepUsage | null;
  /** What these have used and nobody's account has yet. */
  uncounted(): StepUsage | null;
  /** False when the lease was lost: then nothing more may be done. */
  append(step: Step | FinalStep): Promise<boolean>;
}

/** What a journal is written with. */
export interface JournalDeps {
  readonly turns: Pick<TurnRepository, 'appendStep'>;
  readonly clock: Clock;
  /** On whose account each step is as it completes; without it the commit of the turn counts them all. */
  readonly account?: () => SpendAccount;
}

/** Opens the journal of a turn that was claimed. */
export function openJournal(
  { turnId, steps }: Pick<ClaimedTurn, 'turnId' | 'steps'>,
  lease: Lease,
  deps: JournalDeps,
): TurnJournal {
  const all: JournalStep[] = [...steps];
  const spent = () => {
    const usages = roundsOf(turnId, all).map(({ step }) => step.usage);
    return usages.length === 0 ? null : totalUsage(usages);
  };
  return {
    answer: answeredBefore(steps),
    rounds: () => roundsOf(turnId, all),
    spent,
    uncounted: () => (deps.account === undefined ? spent() : null),
    async append(content) {
      const index = (all.at(-1)?.index ?? -1) + 1;
      const step = { index, content, ...settled(content), ...spending(content, deps.account) };
      const result = await deps.turns.appendStep(lease, turnId, step, deps.clock());
      if (result === 'fenced') return false;
      all.push(step);
      return true;
    },
  };
}

/** The record of an approval learns how its call ended in the same breath (G05). */
function settled(content: Step | FinalStep): Pick<JournalStep, 'settles'> {
  if (content.kind !== 'result') return {};
  return { settles: { callKey: content.call, failed: content.failed } };
}

/** A turn that is stopped has used what its steps have (G17). */
function spending(
  content: Step | FinalStep,
  account: JournalDeps['account'],
): Pick<JournalStep, 'spends'> {
  if (content.kind !== 'model' || account === undefined) return {};
  return { spends: { account: account(), usage: content.usage } };
}

/** Reads steps; what an other version wrote and this one does not know is passed over. */
function roundsOf(turnId: string, steps: readonly JournalStep[]): Round[] {
  const read = steps.flatMap(({ index, content }) => {
    const parsed = Step.safeParse(content);
    return parsed.success ? [{ index, step: parsed.data }] : [];
  });
  const begun = new Set(read.flatMap(({ step }) => (step.kind === 'begun' ? [step.call] : [])));
  const results = new Map(
    read.flatMap(({ step }) => (step.kind === 'result' ? [[step.call, step] as const] : [])),
  );
  return read.flatMap(({ index, step }) => {
    if (step.kind !== 'model') return [];
    const calls = step.calls.map((call, nth): JournalledCall => {
      const key = `${turnId}.${index}.${nth}`;
      return { key, call, begun: begun.has(key), result: results.get(key) ?? null };
    });
    return [{ step, calls }];
  });
}
