import type { Selectable } from 'kysely';
import type { Sql } from '../database.ts';
import type { SoulVersion } from '../souls.ts';
import { statement } from '../statement.ts';
import type { SoulVersionTable } from '../tables/soul-tables.ts';
import { IN_USE } from './literals.ts';
import { readSoulVersion } from './soul-row.ts';

/** Which version is changed, and when. */
export interface SoulMoment {
  readonly agent: string;
  readonly number: number;
  readonly now: number;
}

/** Makes all others who change the versions of this agent wait; how many versions it has. */
export async function lockSoul(sql: Sql, agent: string): Promise<number> {
  await sql
    .insertInto('soul')
    .values({ agent, next_number: 0 })
    .onConflict((conflict) => conflict.column('agent').doNothing())
    .execute();
  const row = await sql
    .updateTable('soul')
    .set(({ ref }) => ({ next_number: ref('next_number') }))
    .where('agent', '=', agent)
    .returning('next_number')
    .executeTakeFirstOrThrow();
  return row.next_number;
}

/** Puts a version into use, and what was in use out of it. */
export async function useVersion(
  sql: Sql,
  { agent, number, now }: SoulMoment,
  { by, untold }: { readonly by: string | null; readonly untold: 0 | 1 },
): Promise<void> {
  await sql
    .updateTable('soul_version')
    .set({ state: 'replaced', untold: 0 })
    .where('agent', '=', agent)
    .where('state', '=', IN_USE)
    .execute();
  await sql
    .updateTable('soul_version')
    .set({ state: 'applied', applied_at: now, applies_at: null, decided_by: by, untold })
    .where('agent', '=', agent)
    .where('number', '=', number)
    .execute();
}

/** The version in use; null before the seed. */
export async function appliedOf(sql: Sql, agent: string): Promise<SoulVersion | null> {
  const row = await sql.get(APPLIED, { agent });
  return row === undefined ? null : readSoulVersion(row);
}

const APPLIED = statement(
  "select * from soul_version where agent = :agent and state = 'applied'",
).rows<Selectable<SoulVersionTable>>();

/** One version; null when there is none of that number. */
export async function versionOf(
  sql: Sql,
  agent: string,
  number: number,
): Promise<SoulVersion | null> {
  const row = await sql
    .selectFrom('soul_version')
    .selectAll()
    .where('agent', '=', agent)
    .where('number', '=', number)
    .executeTakeFirst();
  return row === undefined ? null : readSoulVersion(row);
}

/** The version that this call, command or edit has made. */
export async function versionAskedBy(
  sql: Sql,
  agent: string,
  askedBy: string,
): Promise<SoulVersion | null> {
  const row = await sql
    .selectFrom('soul_version')
    .selectAll()
    .where('agent', '=', agent)
    .where('asked_by', '=', askedBy)
    .executeTakeFirst();
  return row === undefined ? null : readSoulVersion(row);
}
