import type { Database, Sql } from '../database.ts';
import type { SoulRepository } from '../souls.ts';
import { readSoulVersion } from './soul-row.ts';
import { appliedOf, versionOf } from './use-soul.ts';

/** What of the repository reads alone. */
export function soulLookups(
  database: Database,
): Pick<SoulRepository, 'applied' | 'get' | 'list' | 'wasApplied' | 'unjudged' | 'due' | 'untold'> {
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
    untold: (agent) =>
      database.read(async (sql) => {
        const query = oldestFirst(sql, agent).where('untold', '=', 1);
        return (await query.execute()).map(readSoulVersion);
      }),
  };
}
