import type { Database, Sql } from '../database.ts';
import { toJson } from '../json-column.ts';
import type { JournalStep, Lease } from '../rows.ts';
import { statement } from '../statement.ts';
import type { TurnRepository } from '../turns.ts';
import { lockLeased } from './conversation.ts';
import { addSpend } from './spend-repository.ts';

/** The turn journal on SQL. */
export function turnRepository(database: Database): TurnRepository {
  return {
    appendStep: (lease, turnId, step, now) =>
      database.write(async (sql) => {
        if ((await lockLeased(sql, lease)) === null) return 'fenced';
        if (!(await isUnfinished(sql, lease, turnId))) return 'fenced';
        await storeStep(sql, turnId, step, now);
        return 'committed';
      }),

    totals: async (since) => {
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
// The same step told twice (its first answer got lost) is stored once.
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
  // The audit says how an approved call ended (G05); of most calls nobody was asked.
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
