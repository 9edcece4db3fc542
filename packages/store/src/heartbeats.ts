import type { NewId, ReplyRoute } from '@parley/core';
import { type Database, defineStatement, type Sql } from './database.ts';
import {
  claimSlot,
  endHeartbeatRun,
  type HeartbeatPlan,
  type HeartbeatRun,
  type HeartbeatRunRequest,
  type HeartbeatRunResult,
  type HeartbeatSlot,
  type RecordedHookEvent,
  recordHookEvent,
  releaseAlerts,
  startHeartbeatRun,
} from './heartbeat-runs.ts';
import type { Lease } from './rows.ts';

/**
 * Heartbeats (H01–H05): each agent's plan (`heartbeat`) and its standing-task runs
 * (`heartbeat_run`). The scheduler and the runs' turns write these tables; the page, `/why` and
 * status read them.
 */
export function createHeartbeatRepository(database: Database, newId: NewId) {
  return {
    /** Reads an agent's plan; null before the agent's first `arm`. */
    plan: (agent: string): Promise<HeartbeatPlan | null> =>
      database.read(async (sql) => (await sql.get(PLAN_OF, { agent })) ?? null),
    /**
     * Creates the plan or changes its cadence; the next run is then at most `everyMs` after `now`.
     */
    arm: (agent: string, everyMs: number, now: number) =>
      database.write((sql) => scheduleHeartbeat(sql, agent, everyMs, now)),
    /** Claims a slot without starting a run; false if another process has claimed it. */
    skip: (slot: HeartbeatSlot, reason: string, now: number): Promise<boolean> =>
      database.write((sql) => claimSlot(sql, slot, reason, now)),
    /**
     * Claims a slot and starts a run in one transaction. The slot is null if a person requested the
     * run. `busy`: another run for this agent is unfinished, and the slot stays open. `gone`:
     * another process has claimed the slot. With `room`, up to that many runs may wait in the lane.
     */
    start: (
      order: HeartbeatRunRequest,
      slot: HeartbeatSlot | null,
      now: number,
      room = 0,
    ): Promise<'started' | 'busy' | 'gone'> =>
      database.write((sql) => startHeartbeatRun(sql, { order, slot, now, room })),
    /**
     * Stores a hook event that did not start a separate run (H09); false if the event is already
     * stored.
     */
    note: (event: RecordedHookEvent, now: number): Promise<boolean> =>
      database.write((sql) => recordHookEvent(sql, event, now)),
    /**
     * Ends a run's turn and releases its alert, in one fenced transaction, so that the alert is
     * sent once.
     */
    commit: (
      lease: Lease,
      turn: HeartbeatRunResult,
      now: number,
    ): Promise<'committed' | 'fenced'> =>
      database.write((sql) => endHeartbeatRun(sql, { lease, turn, now, newId })),
    /**
     * Releases alerts whose quiet hours are over, and returns their routes, so that the deliveries
     * can be woken.
     */
    release: (now: number): Promise<readonly ReplyRoute[]> =>
      database.write((sql) => releaseAlerts(sql, now, newId)),
    ...createRunQueries(database),
  };
}

async function scheduleHeartbeat(
  sql: Sql,
  agent: string,
  everyMs: number,
  now: number,
): Promise<HeartbeatPlan> {
  sql.send(PLAN, { agent, everyMs, nextAt: now + everyMs });
  // The next run is also moved to an earlier time if the clock was set back or the cadence was
  // shortened.
  sql.send(BRING_FORWARD, { agent, everyMs, latest: now + everyMs });
  const plan = await sql.get(PLAN_OF, { agent });
  if (plan === undefined) throw new Error(`Agent ${agent} does not have a plan.`);
  return plan;
}

const PLAN = defineStatement(`
  insert into heartbeat (agent, every_ms, next_at) values (:agent, :everyMs, :nextAt)
  on conflict (agent) do nothing`);

const BRING_FORWARD = defineStatement(`
  update heartbeat set every_ms = :everyMs,
    next_at = case when next_at > :latest then :latest else next_at end
  where agent = :agent`);

const PLAN_OF = defineStatement(`
  select agent, every_ms as "everyMs", next_at as "nextAt", last_at as "lastAt",
    last_reason as "lastReason"
  from heartbeat where agent = :agent`).rows<HeartbeatPlan>();

/** Queries about runs that have started. */
function createRunQueries(database: Database) {
  return {
    of: (id: string): Promise<HeartbeatRun | null> =>
      database.read(async (sql) => (await sql.get(RUN_BY_ID, { id })) ?? null),
    /** Lists an agent's runs, newest first. */
    recent: (agent: string, limit: number): Promise<readonly HeartbeatRun[]> =>
      database.read((sql) => sql.all(NEWEST_RUNS, { agent, limit })),
    /** When the next held alert is released; null if none is held. */
    nextRelease: (): Promise<number | null> =>
      database.read(async (sql) => (await sql.get(NEXT_RELEASE))?.until ?? null),
    /**
     * Whether an alert with the same content has been sent since the given time or is being held.
     */
    alertedSince: (agent: string, fingerprint: string, since: number): Promise<boolean> =>
      database.read(async (sql) => {
        return (await sql.get(ALERTED, { agent, fingerprint, since })) !== undefined;
      }),
    lastRuns: (agent: string): Promise<ReadonlyMap<string, number>> =>
      database.read(async (sql) => {
        return new Map((await sql.all(LAST_RUNS, { agent })).map(({ task, at }) => [task, at]));
      }),
    /** Sums the input and output tokens of all runs that started since the given time. */
    tokensSince: (agent: string, since: number): Promise<number> =>
      database.read(async (sql) => (await sql.get(TOKENS, { agent, since }))?.tokens ?? 0),
  };
}

const RUN = `
  select id, agent, task, target, state, reason, alert, held_until as "heldUntil",
    started_at as "startedAt", finished_at as "finishedAt", input_tokens as "inputTokens",
    output_tokens as "outputTokens"
  from heartbeat_run`;

const RUN_BY_ID = defineStatement(`${RUN} where id = :id`).rows<HeartbeatRun>();

const NEWEST_RUNS = defineStatement(
  `${RUN} where agent = :agent order by started_at desc limit :limit`,
).rows<HeartbeatRun>();

const NEXT_RELEASE = defineStatement(
  "select min(held_until) as until from heartbeat_run where state = 'held'",
).rows<{ readonly until: number | null }>();

const ALERTED = defineStatement(`
  select id from heartbeat_run where agent = :agent and fingerprint = :fingerprint and started_at >= :since
    and state in ('alerted', 'held', 'failed') limit 1`).rows<{ readonly id: string }>();

const LAST_RUNS = defineStatement(
  'select task, max(started_at) as at from heartbeat_run where agent = :agent group by task',
).rows<{ readonly task: string; readonly at: number }>();

const TOKENS = defineStatement(`
  select coalesce(sum(input_tokens + output_tokens), 0) as tokens
  from heartbeat_run where agent = :agent and started_at >= :since`).rows<{
  readonly tokens: number;
}>();
