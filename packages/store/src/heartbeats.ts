import type { NewId, ReplyRoute } from '@parley/core';
import type { Database, Sql } from './database.ts';
import {
  type BeatOrder,
  type BeatPlan,
  type BeatRun,
  type BeatSlot,
  type BeatTurn,
  beginBeat,
  endBeat,
  releaseBeats,
  takeSlot,
} from './heartbeat-runs.ts';
import type { Lease } from './rows.ts';
import { statement } from './statement.ts';

/**
 * Heartbeats (H01–H05): the plan of each agent (`heartbeat`) and the runs of its standing tasks (`beat`). The
 * scheduler and the turn of a run write them; the page, `/why` and status read them.
 */
export function heartbeatRepository(database: Database, newId: NewId) {
  return {
    /** Null before `arm` was called the first time. */
    plan: (agent: string): Promise<BeatPlan | null> =>
      database.read(async (sql) => (await sql.get(PLAN_OF, { agent })) ?? null),
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

async function arm(sql: Sql, agent: string, everyMs: number, now: number): Promise<BeatPlan> {
  sql.send(PLAN, { agent, everyMs, nextAt: now + everyMs });
  // Also after the clock was set back, and after the cadence was made shorter.
  sql.send(BRING_FORWARD, { agent, everyMs, latest: now + everyMs });
  const plan = await sql.get(PLAN_OF, { agent });
  if (plan === undefined) throw new Error(`Agent ${agent} has no plan.`);
  return plan;
}

const PLAN = statement(`
  insert into heartbeat (agent, every_ms, next_at) values (:agent, :everyMs, :nextAt)
  on conflict (agent) do nothing`);

const BRING_FORWARD = statement(`
  update heartbeat set every_ms = :everyMs,
    next_at = case when next_at > :latest then :latest else next_at end
  where agent = :agent`);

const PLAN_OF = statement(`
  select agent, every_ms as "everyMs", next_at as "nextAt", last_at as "lastAt",
    last_reason as "lastReason"
  from heartbeat where agent = :agent`).rows<BeatPlan>();

/** What can be asked of runs that began. */
function beatLookups(database: Database) {
  return {
    of: (id: string): Promise<BeatRun | null> =>
      database.read(async (sql) => (await sql.get(RUN_BY_ID, { id })) ?? null),
    /** The newest first. */
    recent: (agent: string, limit: number): Promise<readonly BeatRun[]> =>
      database.read((sql) => sql.all(NEWEST_RUNS, { agent, limit })),
    /** When the next held alert may go; null when none is held. */
    nextRelease: (): Promise<number | null> =>
      database.read(async (sql) => (await sql.get(NEXT_RELEASE))?.until ?? null),
    /** Whether an alert that says the same was told, or is held, since then. */
    alertedSince: (agent: string, fingerprint: string, since: number): Promise<boolean> =>
      database.read(async (sql) => {
        return (await sql.get(ALERTED, { agent, fingerprint, since })) !== undefined;
      }),
    /** When each task last began. */
    lastRuns: (agent: string): Promise<ReadonlyMap<string, number>> =>
      database.read(async (sql) => {
        return new Map((await sql.all(LAST_RUNS, { agent })).map(({ task, at }) => [task, at]));
      }),
    /** Tokens in and out of all runs that began since then. */
    tokensSince: (agent: string, since: number): Promise<number> =>
      database.read(async (sql) => (await sql.get(TOKENS, { agent, since }))?.tokens ?? 0),
  };
}

const RUN = `
  select id, agent, task, target, state, reason, alert, held_until as "heldUntil",
    started_at as "startedAt", finished_at as "finishedAt", input_tokens as "inputTokens",
    output_tokens as "outputTokens"
  from beat`;

const RUN_BY_ID = statement(`${RUN} where id = :id`).rows<BeatRun>();

const NEWEST_RUNS = statement(
  `${RUN} where agent = :agent order by started_at desc limit :limit`,
).rows<BeatRun>();

const NEXT_RELEASE = statement(
  "select min(held_until) as until from beat where state = 'held'",
).rows<{ readonly until: number | null }>();

const ALERTED = statement(`
  select id from beat where agent = :agent and fingerprint = :fingerprint and started_at >= :since
    and state in ('alerted', 'held') limit 1`).rows<{ readonly id: string }>();

const LAST_RUNS = statement(
  'select task, max(started_at) as at from beat where agent = :agent group by task',
).rows<{ readonly task: string; readonly at: number }>();

const TOKENS = statement(`
  select coalesce(sum(input_tokens + output_tokens), 0) as tokens
  from beat where agent = :agent and started_at >= :since`).rows<{ readonly tokens: number }>();
