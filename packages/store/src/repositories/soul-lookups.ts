import type { Database, Sql } from '../database.ts';
import type { SoulRepository } from '../souls.ts';
import { statement } from '../statement.ts';
import { readSoulVersion } from './soul-row.ts';
import { appliedOf, versionOf } from './use-soul.ts';

/** What of the repository reads alone. */
export function soulLookups(
  database: Database,
): Pick<
  SoulRepository,
  'applied' | 'get' | 'list' | 'wasApplied' | 'unjudged' | 'due' | 'untold' | 'glance'
> {
  const all = (sql: Sql, agent: string) =>
    sql.selectFrom('soul_version').selectAll().where('agent', '=', agent);
  const oldestFirst = (sql: Sql, agent: string) => all(sql, agent).orderBy('number');
  return {
    applied: (agent) => database.read((sql) => appliedOf(sql, agent)),
    get: (agent, number) => database.read((sql) => versionOf(sql, agent, number)),
    list: (agent, limit) =>
      database.read(async (sql) => {
        const query = all(sql, agent).orderBy('number', 'desc').limit(limit);
        return (await query.execute()).map(readSoulVersion);
      }),
    wasApplied: (agent, text) =>
      database.read(async (sql) => {
        const query = sql
          .selectFrom('soul_version')
          .select('number')
          .where('agent', '=', agent)
          .where('text', '=', text)
          .where('applied_at', 'is not', null);
        return (await query.limit(1).executeTakeFirst()) !== undefined;
      }),
    unjudged: (agent) =>
      database.read(async (sql) => {
        const query = oldestFirst(sql, agent).where('state', '=', 'proposed');
        return (await query.execute()).map(readSoulVersion);
      }),
    due: (agent, now) =>
      database.read(async (sql) => {
        const query = oldestFirst(sql, agent)
          .where('state', '=', 'passed')
          .where('applies_at', '<=', now);
        return (await query.execute()).map(readSoulVersion);
      }),
    glance: (agent, now) =>
      database.read(async (sql) => {
        const row = await sql.get(GLANCE, { agent, now });
        return { inUse: row?.inUse ?? null, isBusy: row?.busy === 1 };
      }),
    untold: (agent) =>
      database.read(async (sql) => {
        const query = oldestFirst(sql, agent).where('untold', '=', 1);
        return (await query.execute()).map(readSoulVersion);
      }),
  };
}

const GLANCE = statement(`
  select (select number from soul_version where agent = :agent and state = 'applied') as "inUse",
    case when exists (select 1 from soul_version where agent = :agent and (state = 'proposed'
      or untold = 1 or (state = 'passed' and applies_at <= :now))) then 1 else 0 end as busy`).rows<{
  readonly inUse: number | null;
  readonly busy: number;
}>();
