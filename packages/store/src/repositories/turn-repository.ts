import type { Database, Sql } from '../database.ts';
import type { JournalStep } from '../rows.ts';
import type { TurnRepository } from '../turns.ts';
import { lockLeased } from './conversation.ts';
import { isUnfinished, storeStep } from './store-step.ts';

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
