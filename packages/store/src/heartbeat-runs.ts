import { type NewId, PartExtras, RenderedPart, ReplyRoute } from '@parley/core';
import { z } from 'zod';
import { type ConversationRow, ensureConversation, lockConversation } from './conversations.ts';
import { decodeCheckedJson, defineStatement, encodeJson, type Sql } from './database.ts';
import { insertParts } from './outbox-parts.ts';
import {
  type AdmittedMessage,
  addMessage,
  type Lease,
  type NewPart,
  type TranscriptEntry,
  type TurnCommit,
} from './rows.ts';
import { isTakenOver } from './taken-over.ts';
import { commitTurn } from './turns.ts';

/**
 * When an agent's next heartbeat run is due, and the result of the previous one; times are in ms.
 */
export interface HeartbeatPlan {
  readonly agent: string;
  readonly everyMs: number;
  readonly nextAt: number;
  /** When the last run started; null before the first run. */
  readonly lastAt: number | null;
  /** Why the previous slot did not start a run; null if it did. */
  readonly lastReason: string | null;
}

/**
 * A due heartbeat slot. Only the process that advances the plan from `dueAt` to `nextAt` runs a
 * task.
 */
export interface HeartbeatSlot {
  readonly agent: string;
  readonly dueAt: number;
  readonly nextAt: number;
}

/** A run of a standing task or hook event (H09), before the run starts. */
export interface HeartbeatRunRequest {
  /** A unique id of the run and of the message that starts it. */
  readonly id: string;
  /** For a hook event: `HOOK_AGENT` followed by the name of the hook. */
  readonly agent: string;
  /** The task’s name in HEARTBEAT.md, or the hook's name. */
  readonly task: string;
  /** The conversation that an alert belongs to, chosen before any model runs (H04). */
  readonly target: string;
  /**
   * The message that starts the run's turn in the heartbeat lane; its route determines where an
   * alert goes.
   */
  readonly message: AdmittedMessage;
}

/**
 * `waiting`: the run waits for the previous one in the same lane. `held`: the alert waits until the
 * quiet hours are over. `repeated`: nothing was sent, because the same alert was already sent.
 * `unclear`: nothing was sent, because the answer was neither an alert nor a clear "all is quiet".
 */
export type HeartbeatRunState =
  | 'waiting'
  | 'running'
  | 'quiet'
  | 'alerted'
  | 'held'
  | 'repeated'
  | 'unclear'
  | 'failed';

/** One run of a standing task. Times are in ms. */
export interface HeartbeatRun {
  readonly id: string;
  readonly agent: string;
  readonly task: string;
  readonly target: string;
  readonly state: HeartbeatRunState;
  readonly reason: string | null;
  /** The alert text that was sent or suppressed. */
  readonly alert: string | null;
  /** When a held alert is released; null unless it is held. */
  readonly heldUntil: number | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** An alert to be sent to its target. */
export interface HeartbeatAlert {
  readonly text: string;
  /** The same value for alerts with the same content (H04). */
  readonly fingerprint: string;
  /**
   * Added to the history of the target’s conversation, so that the agent understands a reply to the
   * alert.
   */
  readonly entry: TranscriptEntry;
  readonly parts: readonly NewPart[];
  /** The time before which the alert is not sent because of quiet hours, in ms. */
  readonly heldUntil?: number;
}

/** How a run's turn ends; `commit` does not contain parts, because only the alert is sent. */
export interface HeartbeatRunResult {
  readonly id: string;
  readonly commit: TurnCommit;
  readonly state: Exclude<HeartbeatRunState, 'waiting' | 'running' | 'held'>;
  readonly reason: string | null;
  /** Set for `alerted`, and for a failed event, which also sends a report. */
  readonly alert?: HeartbeatAlert;
}

/** Advances the plan if it is still at this slot; only one caller succeeds. */
export async function claimSlot(
  sql: Sql,
  slot: HeartbeatSlot,
  reason: string | null,
  now: number,
): Promise<boolean> {
  return (await sql.run(TAKE_SLOT, { ...slot, reason, now })) > 0;
}

interface StartRunParams {
  readonly order: HeartbeatRunRequest;
  readonly slot: HeartbeatSlot | null;
  readonly now: number;
  /** How many runs may wait in the lane behind an unfinished run. */
  readonly room: number;
}

/**
 * Starts a run: stores its row and the message that starts its turn. If another run is unfinished,
 * the new one waits, or is refused when the lane is full.
 */
export async function startHeartbeatRun(
  sql: Sql,
  { order, slot, now, room }: StartRunParams,
): Promise<'started' | 'busy' | 'gone'> {
  const { id, agent, target, message } = order;
  ensureConversation(sql, target, now);
  ensureConversation(sql, message.conversationId, now);
  // The lock serializes concurrent starts, so that the second run sees the first.
  await lockConversation(sql, message.conversationId);
  const running = await sql.get(RUNNING_OF, { agent });
  if (running?.id === id) return 'gone';
  if (running !== undefined && (await isHeartbeatInboxFull(sql, order, room))) return 'busy';
  if (slot !== null && !(await claimSlot(sql, slot, null, now))) return 'gone';
  const state = running === undefined ? 'running' : 'waiting';
  if ((await sql.run(BEGIN, { ...order, state, now })) === 0) return 'gone';
  addMessage(sql, message);
  return 'started';
}

async function isHeartbeatInboxFull(
  sql: Sql,
  { message }: HeartbeatRunRequest,
  room: number,
): Promise<boolean> {
  if (room === 0) return true;
  const found = await sql.get(WAITING_IN, { lane: message.conversationId });
  return (found?.count ?? 0) >= room;
}

/** A hook event that did not start a separate run. */
export interface RecordedHookEvent {
  readonly id: string;
  readonly agent: string;
  readonly task: string;
  readonly lane: string;
  /** The reason for the event's outcome. */
  readonly reason: string;
}

export async function recordHookEvent(
  sql: Sql,
  event: RecordedHookEvent,
  now: number,
): Promise<boolean> {
  ensureConversation(sql, event.lane, now);
  return (await sql.run(NOTE, { ...event, now })) > 0;
}

interface EndHeartbeatRunParams {
  readonly lease: Lease;
  readonly turn: HeartbeatRunResult;
  readonly now: number;
  readonly newId: NewId;
}

/** Ends a run's turn and row, and sends or holds its alert, in one transaction. */
export async function endHeartbeatRun(
  sql: Sql,
  { lease, turn, now, newId }: EndHeartbeatRunParams,
): Promise<'committed' | 'fenced'> {
  const run = await sql.get(TARGET_OF, { id: turn.id });
  if (run === undefined) return 'fenced';
  // The lock order requires locking the target before the lane.
  const target = await lockConversation(sql, run.target);
  const { commit, alert } = turn;
  if ((await commitTurn(sql, { lease, commit, now, newId })) === null) return 'fenced';
  // Each run has a separate session, so that values fixed for one run do not apply to the next.
  sql.send(BEGIN_SESSION, { id: lease.conversationId });
  const heldUntil = Math.max(alert?.heldUntil ?? 0, computeRemainingTakeover(target, now));
  const isHeld = alert !== undefined && heldUntil > now;
  sql.send(END, {
    id: turn.id,
    state: isHeld ? 'held' : turn.state,
    reason: turn.reason,
    turnId: commit.turnId,
    input: commit.usage?.inputTokens ?? 0,
    output: commit.usage?.outputTokens ?? 0,
    now,
    alert: alert?.text ?? null,
    fingerprint: alert?.fingerprint ?? null,
    heldUntil: isHeld ? heldUntil : null,
    entry: isHeld ? encodeJson(alert.entry) : null,
    parts: isHeld ? encodeJson(alert.parts) : null,
  });
  if (alert !== undefined && !isHeld) {
    sendAlert(sql, { ...alert, target: run.target, turnId: commit.turnId }, now, newId);
  }
  return 'committed';
}

/**
 * How much longer a person's takeover lasts, in ms, because an alert would interrupt it (U12); 0
 * without a takeover.
 */
function computeRemainingTakeover(target: ConversationRow | undefined, now: number): number {
  const until = target?.taken_over_until ?? null;
  return until !== null && isTakenOver(until, now) ? until : 0;
}

const TAKE_SLOT = defineStatement(`
  update heartbeat set next_at = :nextAt, last_at = :now, last_reason = :reason
  where agent = :agent and next_at = :dueAt`);

const RUNNING_OF = defineStatement(
  "select id from heartbeat_run where agent = :agent and state = 'running'",
).rows<{ readonly id: string }>();

const BEGIN = defineStatement(`
  insert into heartbeat_run (id, agent, task, target, state, started_at)
  values (:id, :agent, :task, :target, :state, :now) on conflict (id) do nothing`);

const NOTE = defineStatement(`
  insert into heartbeat_run (id, agent, task, target, state, reason, started_at, finished_at)
  values (:id, :agent, :task, :lane, 'quiet', :reason, :now, :now) on conflict (id) do nothing`);

const WAITING_IN = defineStatement(
  "select count(*) as count from inbox where conversation_id = :lane and state = 'waiting'",
).rows<{ readonly count: number }>();

const TARGET_OF = defineStatement(
  "select target from heartbeat_run where id = :id and state in ('running', 'waiting')",
).rows<{
  readonly target: string;
}>();

const BEGIN_SESSION = defineStatement(
  'update conversation set session = session + 1 where id = :id',
);

const END = defineStatement(`
  update heartbeat_run set state = :state, reason = :reason, turn_id = :turnId, input_tokens = :input,
    output_tokens = :output, finished_at = :now, alert = :alert, fingerprint = :fingerprint,
    held_until = :heldUntil, entry = :entry, parts = :parts
  where id = :id`);

const Entry = z.object({
  role: z.enum(['user', 'assistant', 'tool', 'system']),
  content: z.unknown(),
});

const Parts = z.array(z.object({ route: ReplyRoute, body: RenderedPart, ...PartExtras.shape }));

/** Releases due alerts, oldest first, and returns the routes of their parts. */
export async function releaseAlerts(
  sql: Sql,
  now: number,
  newId: NewId,
): Promise<readonly ReplyRoute[]> {
  const due = await sql.all(DUE_TARGETS, { now });
  // All targets are locked first and sorted by id, according to the lock order.
  const targets: string[] = [];
  for (const { target } of due) {
    const lane = await lockConversation(sql, target);
    if (computeRemainingTakeover(lane, now) === 0) targets.push(target);
  }
  if (targets.length === 0) return [];
  const rows = await sql.all(RELEASE, { now, targets: encodeJson(targets) });
  const routes: ReplyRoute[] = [];
  for (const row of rows.toSorted(compareByEndTime)) {
    const parts = decodeCheckedJson(Parts, row.parts ?? '', `the parts in alert ${row.id}`);
    const entry = decodeCheckedJson(Entry, row.entry ?? '', `the history entry of alert ${row.id}`);
    sendAlert(sql, { entry, parts, target: row.target, turnId: row.turnId ?? '' }, now, newId);
    sql.send(EMPTY, { id: row.id });
    routes.push(...parts.map(({ route }) => route));
  }
  return routes;
}

function compareByEndTime(one: ReleasedAlert, other: ReleasedAlert): number {
  return (one.endedAt ?? 0) - (other.endedAt ?? 0);
}

/**
 * A held alert is released when the quiet hours or the takeover have ended. Both last at most a
 * day, so a longer hold means that the clock was set back.
 */
const IS_OVER = "state = 'held' and (held_until <= :now or held_until - 86400000 > :now)";

const DUE_TARGETS = defineStatement(`
  select distinct target from heartbeat_run where ${IS_OVER} order by target`).rows<{
  readonly target: string;
}>();

interface ReleasedAlert {
  readonly id: string;
  readonly target: string;
  readonly turnId: string | null;
  readonly entry: string | null;
  readonly parts: string | null;
  readonly endedAt: number | null;
}

const RELEASE = defineStatement(`
  update heartbeat_run set state = 'alerted'
  where ${IS_OVER}
    and target in (select value from json_each(:targets))
  returning id, target, turn_id as "turnId", entry, parts, finished_at as "endedAt"`).rows<ReleasedAlert>();

/** Clears a run's text, which is now in the history and in the outbox. */
const EMPTY = defineStatement(
  'update heartbeat_run set entry = null, parts = null, held_until = null where id = :id',
);

interface OutgoingAlert extends Pick<HeartbeatAlert, 'entry' | 'parts'> {
  readonly target: string;
  readonly turnId: string;
}

/** Adds an alert to the outbox and to its conversation's history. */
function sendAlert(
  sql: Sql,
  { entry, parts, target, turnId }: OutgoingAlert,
  now: number,
  newId: NewId,
): void {
  sql.send(APPEND, { target, turnId, role: entry.role, content: encodeJson(entry.content), now });
  insertParts(sql, parts, { turnId, now, newId });
}

const APPEND = defineStatement(`
  insert into transcript (conversation_id, session, turn_id, role, content, created_at)
  select id, session, :turnId, :role, :content, :now from conversation where id = :target`);
