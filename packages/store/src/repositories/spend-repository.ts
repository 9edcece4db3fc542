import type { Database, Sql } from '../database.ts';
import type { TurnUsage } from '../rows.ts';
import type { SpendAccount, SpendRepository, Spent } from '../spend.ts';

/** In a key a column must not be null: what nobody said in a group belongs to this one. */
const NO_GROUP = '';

/** Whom nobody asked for, such as a summary of a long conversation. */
const NOBODY = '';

/** What was spent, on SQL. */
export function spendRepository(database: Database): SpendRepository {
  return {
    ofPerson: ({ day, personId }) =>
      database.read(async (sql) =>
        spentOf(await sums(sql, day).where('person_id', '=', personId).executeTakeFirst()),
      ),

    of: ({ day, personId, groupId }) =>
      database.read(async (sql) => {
        const person = await sums(sql, day).where('person_id', '=', personId).executeTakeFirst();
        const group = await sums(sql, day)
          .where('group_id', '=', groupId ?? NO_GROUP)
          .executeTakeFirst();
        const total = await sums(sql, day).executeTakeFirst();
        return {
          person: spentOf(person),
          group: groupId === null ? NOTHING : spentOf(group),
          total: spentOf(total),
        };
      }),

    add: (account, usage) => database.write((sql) => addSpend(sql, account, usage), 'process'),

    day: (day) =>
      database.read(async (sql) => {
        const rows = await sql
          .selectFrom('spend')
          .select(['person_id', 'group_id'])
          .where('day', '=', day)
          .execute();
        const groups = new Set(rows.map((row) => row.group_id).filter((id) => id !== NO_GROUP));
        const people = new Set(rows.map((row) => row.person_id).filter((id) => id !== NOBODY));
        return {
          ...spentOf(await sums(sql, day).executeTakeFirst()),
          people: people.size,
          groups: groups.size,
        };
      }),
  };
}

/** Adds what was used, inside the caller's transaction. */
export async function addSpend(
  sql: Sql,
  { day, personId, groupId }: SpendAccount,
  { inputTokens, outputTokens, costUsd }: Omit<TurnUsage, 'model'>,
): Promise<void> {
  const row = {
    day,
    person_id: personId,
    group_id: groupId ?? NO_GROUP,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost_usd: costUsd ?? 0,
  };
  await sql
    .insertInto('spend')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['day', 'person_id', 'group_id']).doUpdateSet((eb) => ({
        input_tokens: eb('spend.input_tokens', '+', row.input_tokens),
        output_tokens: eb('spend.output_tokens', '+', row.output_tokens),
        cost_usd: eb('spend.cost_usd', '+', row.cost_usd),
      })),
    )
    .execute();
}

const NOTHING: Spent = { tokens: 0, costUsd: 0 };

function sums(sql: Sql, day: string) {
  return sql
    .selectFrom('spend')
    .select((eb) => [
      eb.fn.sum<number | null>('input_tokens').as('input'),
      eb.fn.sum<number | null>('output_tokens').as('output'),
      eb.fn.sum<number | null>('cost_usd').as('cost'),
    ])
    .where('day', '=', day);
}

interface Sums {
  readonly input: number | null;
  readonly output: number | null;
  readonly cost: number | null;
}

function spentOf(row: Sums | undefined): Spent {
  return { tokens: (row?.input ?? 0) + (row?.output ?? 0), costUsd: row?.cost ?? 0 };
}
