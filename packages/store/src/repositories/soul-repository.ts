import type { Database } from '../database.ts';
import type { SoulRepository } from '../souls.ts';
import { proposeSoul, seedSoul } from './add-soul.ts';
import { applySoul, closeSoul, judgeSoul, rollbackSoul } from './decide-soul.ts';
import { soulLookups } from './soul-lookups.ts';

/** Versions of SOUL.md on SQL. */
export function soulRepository(database: Database): SoulRepository {
  return {
    ...soulLookups(database),
    seed: (agent, soul, now) => database.write((sql) => seedSoul(sql, agent, soul, now)),
    propose: (agent, soul, most, now) =>
      database.write((sql) => proposeSoul(sql, agent, { soul, most, now })),
    judge: (agent, number, verdict, now) =>
      database.write((sql) => judgeSoul(sql, { agent, number, now }, verdict)),
    apply: (agent, number, by, inUse, now) =>
      database.write((sql) => applySoul(sql, { agent, number, now }, by, inUse)),
    close: (agent, number, state, by, now) =>
      database.write((sql) => closeSoul(sql, { agent, number, now }, state, by)),
    rollback: (agent, order, now) => database.write((sql) => rollbackSoul(sql, agent, order, now)),
    keepHead: (agent, number, head) =>
      database.write(async (sql) => {
        const row = sql.updateTable('soul_version').set({ head }).where('agent', '=', agent);
        await row.where('number', '=', number).execute();
      }),
    told: (agent, number, state) =>
      database.write(async (sql) => {
        const row = sql.updateTable('soul_version').set({ untold: 0 }).where('agent', '=', agent);
        await row.where('number', '=', number).where('state', '=', state).execute();
      }),
  };
}
