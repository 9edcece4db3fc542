import { z } from 'zod';
import { lockLeased } from './conversations.ts';
import { type Database, type Sql, statement, toJson } from './database.ts';
import type { CommitResult, JournalStep, Lease, TurnCommit } from './rows.ts';
import { addSpend } from './spend.ts';

/** What `parley status` says about recent turns. */
export interface TurnTotals {
  readonly answered: number;
  readonly failed: number;
  readonly stopped: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** The turn journal (G16), table `turn_step`: a turn appends its finished steps, and reads them when it resumes. */
export type TurnRepository = ReturnType<typeof turnRepository>;

export function turnRepository(database: Database) {
  return {
    /** Appends one step, fenced like a commit. */
    appendStep: (
      lease: Lease,
      turnId: string,
      step: JournalStep,
      now: number,
    ): Promise<CommitResult> =>
      database.write(async (sql) => {
        if ((await lockLeased(sql, lease)) === null) return 'fenced';
        if (!(await isUnfinished(sql, lease, turnId))) return 'fenced';
        await storeStep(sql, turnId, step, now);
        return 'committed';
      }),

    /** Sums over turns finished at or after `since` (ms). */
    totals: async (since: number): Promise<TurnTotals> => {
      const rows = await database.read((sql) => sql.all(TOTALS, { since }));
      const count = (state: string) => rows.find((row) => row.state === state)?.count ?? 0;
      const sum = (column: 'input' | 'output' | 'cost') =>
        rows.reduce((total, row) => total + (row[column] ?? 0), 0);
      return {
        answered: count('answered'),
        failed: count('failed'),
        stopped: count('stopped'),
        inputTokens: sum('input'),
        outputTokens: sum('output'),
        costUsd: sum('cost'),
      };
    },
  };
}

const TOTALS = statement(`
  select state, count(*) as count, sum(input_tokens) as input, sum(output_tokens) as output,
    sum(cost_usd) as cost
  from turn where finished_at >= :since group by state`).rows<{
  readonly state: string;
  readonly count: number;
  readonly input: number | null;
  readonly output: number | null;
  readonly cost: number | null;
}>();

// The state is written out, because a partial index serves only what names its condition.
const UNFINISHED = statement(
  "select id from turn where conversation_id = :conversationId and state = 'running'",
).rows<{ readonly id: string }>();

// A repeated step (its first answer got lost) is stored once.
const APPEND = statement(`
  insert into turn_step (turn_id, step_index, content, created_at, started_at, facts)
  values (:turnId, :index, :content, :now, :startedAt, :facts)
  on conflict (turn_id, step_index) do nothing`);

const COUNT_USAGE = statement(`
  update turn set model = :model, input_tokens = coalesce(input_tokens, 0) + :input,
    output_tokens = coalesce(output_tokens, 0) + :output,
    cost_usd = case when :isPriced = 1 then coalesce(cost_usd, 0) + :cost else cost_usd end
  where id = :turnId`);

const SETTLE = statement(`
  update approval set result = :result
  where turn_id = :turnId and call_key = :callKey and state in ('approved', 'auto')`);

/** Whether this is the unfinished turn of its lane; the caller has locked the lane. */
export async function isUnfinished(
  sql: Sql,
  { conversationId }: Lease,
  turnId: string,
): Promise<boolean> {
  return (await sql.get(UNFINISHED, { conversationId }))?.id === turnId;
}

/** Puts a step into the journal of a turn, with what it has used and the approval that it settles. */
export async function storeStep(
  sql: Sql,
  turnId: string,
  { index, content, timing, spends, settles }: JournalStep,
  now: number,
): Promise<void> {
  const facts = timing === undefined ? null : toJson(timing.facts);
  const step = { index, content: toJson(content), startedAt: timing?.startedAt ?? null, facts };
  const isNew = (await sql.run(APPEND, { turnId, ...step, now })) > 0;
  if (isNew && spends !== undefined) spend(sql, turnId, spends);
  // The audit says how an approved call ended (G05); most calls had no question.
  if (settles !== undefined) {
    const { callKey, failed } = settles;
    sql.send(SETTLE, { turnId, callKey, result: failed ? 'failed' : 'done' });
  }
}

/** The turn keeps how much of its usage is counted already; its commit counts the rest. */
function spend(
  sql: Sql,
  turnId: string,
  { account, usage }: NonNullable<JournalStep['spends']>,
): void {
  addSpend(sql, account, usage);
  const { model, inputTokens: input, outputTokens: output, costUsd } = usage;
  const cost = { isPriced: costUsd === null ? 0 : 1, cost: costUsd ?? 0 };
  sql.send(COUNT_USAGE, { turnId, model, input, output, ...cost });
}

/** One beginning of a turn: when, in ms, and by which worker. */
export const TurnRun = z.object({ at: z.number(), worker: z.string().nullable() });

export type TurnRun = z.infer<typeof TurnRun>;

const TurnRuns = z.array(TurnRun);

/** Of a turn that is suspended again and again the last ones are enough. */
const KEPT_RUNS = 20;

/** The column `runs` with one more beginning. */
export function withRun(before: string | null, run: TurnRun): string {
  return toJson([...readRuns(before), run].slice(-KEPT_RUNS));
}

/** How often a turn was started; nothing where it was not recorded. */
export function readRuns(runs: string | null): readonly TurnRun[] {
  if (runs === null) return [];
  const parsed = TurnRuns.safeParse(JSON.parse(runs));
  return parsed.success ? parsed.data : [];
}

/** At most one turn per conversation is `running`, and the database enforces it. */
export type TurnState = 'running' | 'stopped' | 'interrupted' | TurnCommit['outcome'];
