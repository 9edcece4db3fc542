import type { Database, Sql } from '../database.ts';
import { toJson } from '../json-column.ts';
import type { JournalStep, Lease } from '../rows.ts';
import type { TurnRepository } from '../turns.ts';
import { lockLeased } from './conversation.ts';
import { RUNNING } from './literals.ts';
import { addSpend } from './spend-repository.ts';

/** The turn journal on SQL. */
export function turnRepository(database: Database): TurnRepository {
  return {
    appendStep: (lease, turnId, step, now) =>
      database.write(async (sql) => {
        if ((await lockLeased(database, sql, lease)) === null) return 'fenced';
        if (!(await isUnfinished(sql, lease, turnId))) return 'fenced';
        await storeStep(sql, turnId, step, now);
        return 'committed';
      }),

    totals: (since) =>
      database.read(async (sql) => {
        const rows = await sql
          .selectFrom('turn')
          .select((eb) => [
            'state',
            eb.fn.countAll<number>().as('count'),
            eb.fn.sum<number | null>('input_tokens').as('input'),
            eb.fn.sum<number | null>('output_tokens').as('output'),
            eb.fn.sum<number | null>('cost_usd').as('cost'),
          ])
          .where('finished_at', '>=', since)
          .groupBy('state')
          .execute();
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
      }),
  };
}

/** Whether this is the unfinished turn of its lane; the caller has locked the lane. */
export async function isUnfinished(sql: Sql, lease: Lease, turnId: string): Promise<boolean> {
  const running = await sql
    .selectFrom('turn')
    .select('id')
    .where('conversation_id', '=', lease.conversationId)
    .where('state', '=', RUNNING)
    .executeTakeFirst();
  return running?.id === turnId;
}

/** Puts a step into the journal of a turn, with what it has used and the approval that it settles. */
export async function storeStep(
  sql: Sql,
  turnId: string,
  step: JournalStep,
  now: number,
): Promise<void> {
  const inserted = await sql
    .insertInto('turn_step')
    .values({
      turn_id: turnId,
      step_index: step.index,
      content: toJson(step.content),
      created_at: now,
      started_at: step.timing?.startedAt ?? null,
      facts: step.timing === undefined ? null : toJson(step.timing.facts),
    })
    // The same step told twice (its first answer got lost) is stored once.
    .onConflict((conflict) => conflict.columns(['turn_id', 'step_index']).doNothing())
    .executeTakeFirst();
  const isNew = inserted.numInsertedOrUpdatedRows === 1n;
  if (isNew && step.spends !== undefined) await spend(sql, turnId, step.spends);
  if (step.settles !== undefined) await settle(sql, turnId, step.settles);
}

/** The turn keeps how much of its usage is counted already; its commit counts the rest. */
async function spend(
  sql: Sql,
  turnId: string,
  { account, usage }: NonNullable<JournalStep['spends']>,
): Promise<void> {
  addSpend(sql, account, usage);
  const { inputTokens, outputTokens, costUsd } = usage;
  await sql
    .updateTable('turn')
    .set(({ eb, fn, lit }) => ({
      model: usage.model,
      input_tokens: eb(fn.coalesce('input_tokens', lit(0)), '+', inputTokens),
      output_tokens: eb(fn.coalesce('output_tokens', lit(0)), '+', outputTokens),
      ...(costUsd !== null && { cost_usd: eb(fn.coalesce('cost_usd', lit(0)), '+', costUsd) }),
    }))
    .where('id', '=', turnId)
    .execute();
}

/** The audit says how an approved call ended (G05); of most calls nobody was asked. */
async function settle(
  sql: Sql,
  turnId: string,
  { callKey, failed }: NonNullable<JournalStep['settles']>,
): Promise<void> {
  await sql
    .updateTable('approval')
    .set({ result: failed ? 'failed' : 'done' })
    .where('turn_id', '=', turnId)
    .where('call_key', '=', callKey)
    .where('state', 'in', ['approved', 'auto'])
    .execute();
}
