import type { NewId } from '@parley/contracts';
import type { Selectable } from 'kysely';
import type { Database, Sql } from './database.ts';
import {
  type BeatPlan,
  type BeatRun,
  type BeatTable,
  beginBeat,
  endBeat,
  type HeartbeatRepository,
  type HeartbeatTable,
  releaseBeats,
  takeSlot,
} from './heartbeat-runs.ts';
import { HELD_ALERT } from './literals.ts';

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

type Lookup = 'of' | 'nextRelease' | 'alertedSince' | 'lastRuns' | 'recent' | 'tokensSince';

/** What can be asked of runs that began. */
function beatLookups(database: Database): Pick<HeartbeatRepository, Lookup> {
  return {
    of: (id) =>
      database.read(async (sql) => {
        const row = await sql
          .selectFrom('beat')
          .selectAll()
          .where('id', '=', id)
          .executeTakeFirst();
        return row === undefined ? null : readBeat(row);
      }),
    recent: (agent, limit) =>
      database.read(async (sql) => {
        const query = sql.selectFrom('beat').selectAll().where('agent', '=', agent);
        const rows = await query.orderBy('started_at', 'desc').limit(limit).execute();
        return rows.map(readBeat);
      }),
    nextRelease: () => database.read(nextRelease),
    alertedSince: (agent, fingerprint, since) =>
      database.read((sql) => alertedSince(sql, { agent, fingerprint, since })),
    lastRuns: (agent) => database.read((sql) => lastRuns(sql, agent)),
    tokensSince: (agent, since) => database.read((sql) => tokensSince(sql, agent, since)),
  };
}

async function nextRelease(sql: Sql): Promise<number | null> {
  const row = await sql
    .selectFrom('beat')
    .select('held_until')
    .where('state', '=', HELD_ALERT)
    .orderBy('held_until')
    .limit(1)
    .executeTakeFirst();
  return row?.held_until ?? null;
}

interface Said {
  readonly agent: string;
  readonly fingerprint: string;
  readonly since: number;
}

async function alertedSince(sql: Sql, { agent, fingerprint, since }: Said): Promise<boolean> {
  const row = await sql
    .selectFrom('beat')
    .select('id')
    .where('agent', '=', agent)
    .where('fingerprint', '=', fingerprint)
    .where('started_at', '>=', since)
    .where('state', 'in', ['alerted', 'held'])
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

async function lastRuns(sql: Sql, agent: string): Promise<ReadonlyMap<string, number>> {
  const rows = await sql
    .selectFrom('beat')
    .select(['task', (eb) => eb.fn.max('started_at').as('at')])
    .where('agent', '=', agent)
    .groupBy('task')
    .execute();
  return new Map(rows.map(({ task, at }) => [task, Number(at)]));
}

async function tokensSince(sql: Sql, agent: string, since: number): Promise<number> {
  const row = await sql
    .selectFrom('beat')
    .select(({ fn }) => [
      fn.sum<number | null>('input_tokens').as('asked'),
      fn.sum<number | null>('output_tokens').as('said'),
    ])
    .where('agent', '=', agent)
    .where('started_at', '>=', since)
    .executeTakeFirstOrThrow();
  return Number(row.asked ?? 0) + Number(row.said ?? 0);
}

function readBeat(row: Selectable<BeatTable>): BeatRun {
  return {
    id: row.id,
    agent: row.agent,
    task: row.task,
    target: row.target,
    state: row.state,
    reason: row.reason,
    alert: row.alert,
    heldUntil: row.held_until,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
  };
}
