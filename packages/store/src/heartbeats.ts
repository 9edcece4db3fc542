import type { NewId, ReplyRoute } from '@parley/contracts';
import type { Selectable } from 'kysely';
import type { Database, Sql } from './database.ts';
import {
  type BeatOrder,
  type BeatPlan,
  type BeatRun,
  type BeatSlot,
  type BeatTable,
  type BeatTurn,
  beginBeat,
  endBeat,
  type HeartbeatTable,
  releaseBeats,
  takeSlot,
} from './heartbeat-runs.ts';
import { HELD_ALERT } from './literals.ts';
import type { Lease } from './rows.ts';

/**
 * Heartbeats (H01–H05): the plan of each agent (`heartbeat`) and the runs of its standing tasks (`beat`). The
 * scheduler and the turn of a run write them; the page, `/why` and status read them.
 */
export type HeartbeatRepository = ReturnType<typeof heartbeatRepository>;

export function heartbeatRepository(database: Database, newId: NewId) {
  return {
    /** Null before `arm` was called the first time. */
    plan: (agent: string) => database.read((sql) => planOf(sql, agent)),
    /** Makes the plan, or gives it another cadence: then the next beat is `everyMs` from `now` at most. */
    arm: (agent: string, everyMs: number, now: number) =>
      database.write((sql) => arm(sql, agent, everyMs, now)),
    /** Takes a beat on which nothing is run. False when somebody else has taken it. */
    rest: (slot: BeatSlot, reason: string, now: number): Promise<boolean> =>
      database.write((sql) => takeSlot(sql, slot, reason, now)),
    /**
     * Takes a beat and begins a run, in one transaction; without a slot somebody asked for it. `busy`:
     * a run of that agent is not over, and the beat stays to be taken. `gone`: somebody else has it.
     */
    begin: (
      order: BeatOrder,
      slot: BeatSlot | null,
      now: number,
    ): Promise<'begun' | 'busy' | 'gone'> =>
      database.write((sql) => beginBeat(sql, { order, slot, now })),
    /** Ends the turn of a run and lets its alert go, in one fenced transaction: it is told once. */
    commit: (lease: Lease, turn: BeatTurn, now: number): Promise<'committed' | 'fenced'> =>
      database.write((sql) => endBeat(sql, { lease, turn, now, newId })),
    /** Lets go of alerts whose quiet hours are over; where the parts went, to wake their deliveries. */
    release: (now: number): Promise<readonly ReplyRoute[]> =>
      database.write((sql) => releaseBeats(sql, now, newId)),
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

/** What can be asked of runs that began. */
function beatLookups(database: Database) {
  return {
    /** A run by its id. */
    of: (id: string): Promise<BeatRun | null> =>
      database.read(async (sql) => {
        const row = await sql
          .selectFrom('beat')
          .selectAll()
          .where('id', '=', id)
          .executeTakeFirst();
        return row === undefined ? null : readBeat(row);
      }),
    /** The newest first. */
    recent: (agent: string, limit: number): Promise<readonly BeatRun[]> =>
      database.read(async (sql) => {
        const query = sql.selectFrom('beat').selectAll().where('agent', '=', agent);
        const rows = await query.orderBy('started_at', 'desc').limit(limit).execute();
        return rows.map(readBeat);
      }),
    /** When the next held alert may go; null when none is held. */
    nextRelease: () => database.read(nextRelease),
    /** Whether an alert that says the same was told, or is held, since then. */
    alertedSince: (agent: string, fingerprint: string, since: number) =>
      database.read((sql) => alertedSince(sql, agent, fingerprint, since)),
    /** When each task last began. */
    lastRuns: (agent: string) => database.read((sql) => lastRuns(sql, agent)),
    /** Tokens in and out of all runs that began since then. */
    tokensSince: (agent: string, since: number) =>
      database.read((sql) => tokensSince(sql, agent, since)),
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

async function alertedSince(
  sql: Sql,
  agent: string,
  fingerprint: string,
  since: number,
): Promise<boolean> {
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
