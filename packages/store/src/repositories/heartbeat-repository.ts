import type { NewId } from '@parley/contracts';
import type { Selectable } from 'kysely';
import type { Database, Sql } from '../database.ts';
import type { BeatPlan, HeartbeatRepository } from '../heartbeats.ts';
import type { HeartbeatTable } from '../tables/heartbeat-tables.ts';
import { beatLookups } from './beat-lookups.ts';
import { beginBeat, takeSlot } from './begin-beat.ts';
import { endBeat, releaseBeats } from './end-beat.ts';

/** Heartbeats on SQL. */
export function heartbeatRepository(database: Database, newId: NewId): HeartbeatRepository {
  return {
    plan: (agent) => database.read((sql) => planOf(sql, agent)),
    arm: (agent, everyMs, now) => database.write((sql) => arm(sql, agent, everyMs, now)),
    rest: (slot, reason, now) => database.write((sql) => takeSlot(sql, slot, reason, now)),
    begin: (order, slot, now) => database.write((sql) => beginBeat(sql, { order, slot, now })),
    commit: (lease, turn, now) =>
      database.write((sql) => endBeat(sql, { lease, turn, now, newId })),
    release: (now) => database.write((sql) => releaseBeats(sql, now, newId)),
    ...beatLookups(database),
  };
}

async function planOf(sql: Sql, agent: string): Promise<BeatPlan | null> {
  const row = await sql
    .selectFrom('heartbeat')
    .selectAll()
    .where('agent', '=', agent)
    .executeTakeFirst();
  return row === undefined ? null : readPlan(row);
}

async function arm(sql: Sql, agent: string, everyMs: number, now: number): Promise<BeatPlan> {
  const first = { agent, every_ms: everyMs, next_at: now + everyMs };
  await sql
    .insertInto('heartbeat')
    .values(first)
    .onConflict((conflict) => conflict.column('agent').doNothing())
    .execute();
  const latest = now + everyMs;
  await sql
    .updateTable('heartbeat')
    .set({ every_ms: everyMs })
    .where('agent', '=', agent)
    .execute();
  // Also after the clock was set back, and after the cadence was made shorter.
  await sql
    .updateTable('heartbeat')
    .set({ next_at: latest })
    .where('agent', '=', agent)
    .where('next_at', '>', latest)
    .execute();
  const row = await sql
    .selectFrom('heartbeat')
    .selectAll()
    .where('agent', '=', agent)
    .executeTakeFirstOrThrow();
  return readPlan(row);
}

function readPlan(row: Selectable<HeartbeatTable>): BeatPlan {
  return {
    agent: row.agent,
    everyMs: row.every_ms,
    nextAt: row.next_at,
    lastAt: row.last_at,
    lastReason: row.last_reason,
  };
}
