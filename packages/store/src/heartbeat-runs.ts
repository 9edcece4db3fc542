import { type NewId, PartExtras, RenderedPart, ReplyRoute } from '@parley/contracts';
import type { Generated, Selectable } from 'kysely';
import { z } from 'zod';
import { commitTurn } from './commit-turn.ts';
import { ensureConversation, lockConversation } from './conversations.ts';
import type { Sql } from './database.ts';
import { newInboxRow } from './inbox-rows.ts';
import { fromCheckedJson, toJson } from './json-column.ts';
import { HELD_ALERT, RUNNING } from './literals.ts';
import { insertParts } from './outbox-parts.ts';
import type { AdmittedMessage, Lease, NewPart, TranscriptEntry, TurnCommit } from './rows.ts';

/** When an agent's heart beats next, and what came of the last time. Times in ms. */
export interface BeatPlan {
  readonly agent: string;
  readonly everyMs: number;
  readonly nextAt: number;
  /** Null before the first beat. */
  readonly lastAt: number | null;
  /** Why the last beat began no run; null when it did. */
  readonly lastReason: string | null;
}

/** The beat that is due: whoever moves the plan from `dueAt` to `nextAt` has it, and nobody else. */
export interface BeatSlot {
  readonly agent: string;
  readonly dueAt: number;
  readonly nextAt: number;
}

/** A run of one standing task, before it begins. */
export interface BeatOrder {
  /** Unique: names the run and the message that begins it. */
  readonly id: string;
  readonly agent: string;
  /** The task’s name in HEARTBEAT.md. */
  readonly task: string;
  /** The conversation that an alert belongs to: fixed here, before any model runs (H04). */
  readonly target: string;
  /** What its turn begins with, in the lane of the heartbeat; its route is where an alert goes. */
  readonly message: AdmittedMessage;
}

/**
 * `held`: an alert that waits for the end of the quiet hours; `repeated`: one that was told already;
 * `unclear`: neither an alert nor a plain "all is quiet", and told to nobody.
 */
export type BeatState =
  | 'running'
  | 'quiet'
  | 'alerted'
  | 'held'
  | 'repeated'
  | 'unclear'
  | 'failed';

/** One run of a standing task. Times in ms. */
export interface BeatRun {
  readonly id: string;
  readonly agent: string;
  readonly task: string;
  readonly target: string;
  readonly state: BeatState;
  readonly reason: string | null;
  /** What was told, or would have been. */
  readonly alert: string | null;
  /** When a held alert is told; null for all others. */
  readonly heldUntil: number | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** An alert on its way to its target. */
export interface BeatAlert {
  readonly text: string;
  /** The same for two alerts that say the same (H04). */
  readonly fingerprint: string;
  /** Joins the history of the target’s conversation, so that an answer to it is understood. */
  readonly entry: TranscriptEntry;
  readonly parts: readonly NewPart[];
  /** Before that (ms) nobody is told: quiet hours. */
  readonly heldUntil?: number;
}

/** How the turn of a run ends. `commit` has no parts: what is told is the alert. */
export interface BeatTurn {
  readonly id: string;
  readonly commit: TurnCommit;
  readonly state: Exclude<BeatState, 'running' | 'held'>;
  readonly reason: string | null;
  /** With `alerted` alone. */
  readonly alert?: BeatAlert;
}

/** When each agent’s heart beats next. */
export interface HeartbeatTable {
  agent: string;
  every_ms: number;
  next_at: number;
  last_at: Generated<number | null>;
  last_reason: Generated<string | null>;
}

/** Runs of standing tasks; `entry` and `parts` are JSON and there while an alert is held. */
export interface BeatTable {
  id: string;
  agent: string;
  task: string;
  target: string;
  state: BeatState;
  reason: Generated<string | null>;
  alert: Generated<string | null>;
  fingerprint: Generated<string | null>;
  entry: Generated<string | null>;
  parts: Generated<string | null>;
  held_until: Generated<number | null>;
  turn_id: Generated<string | null>;
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  started_at: number;
  finished_at: Generated<number | null>;
}

/** Moves the plan on if it still stands at the slot: the one update that only one caller can make. */
export async function takeSlot(
  sql: Sql,
  { agent, dueAt, nextAt }: BeatSlot,
  reason: string | null,
  now: number,
): Promise<boolean> {
  const taken = await sql
    .updateTable('heartbeat')
    .set({ next_at: nextAt, last_at: now, last_reason: reason })
    .where('agent', '=', agent)
    .where('next_at', '=', dueAt)
    .returning('agent')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Begins a run: its row and the message that begins its turn, unless another one is not over. */
export async function beginBeat(
  sql: Sql,
  { order, slot, now }: { order: BeatOrder; slot: BeatSlot | null; now: number },
): Promise<'begun' | 'busy' | 'gone'> {
  const { id, agent, task, target, message } = order;
  ensureConversation(sql, target, now);
  ensureConversation(sql, message.conversationId, now);
  // Two that begin at once wait for each other here, so that the second finds the run of the first.
  await lockConversation(sql, message.conversationId);
  const running = await sql
    .selectFrom('beat')
    .select('id')
    .where('agent', '=', agent)
    .where('state', '=', RUNNING)
    .executeTakeFirst();
  if (running !== undefined) return running.id === id ? 'gone' : 'busy';
  if (slot !== null && !(await takeSlot(sql, slot, null, now))) return 'gone';
  const begun = await sql
    .insertInto('beat')
    .values({ id, agent, task, target, state: 'running', started_at: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (begun === undefined) return 'gone';
  await sql.insertInto('inbox').values(newInboxRow(message, 'waiting')).execute();
  return 'begun';
}

interface Ending {
  readonly lease: Lease;
  readonly turn: BeatTurn;
  readonly now: number;
  readonly newId: NewId;
}

/** Ends the turn of a run, its row, and tells or holds its alert: all of it, or nothing. */
export async function endBeat(
  sql: Sql,
  { lease, turn, now, newId }: Ending,
): Promise<'committed' | 'fenced'> {
  const run = await sql
    .selectFrom('beat')
    .select(['id', 'target'])
    .where('id', '=', turn.id)
    .where('state', '=', RUNNING)
    .executeTakeFirst();
  if (run === undefined) return 'fenced';
  // Before the lane: the lock order.
  await lockConversation(sql, run.target);
  const { commit, alert } = turn;
  if ((await commitTurn(sql, { lease, commit, now, newId })) === null) return 'fenced';
  await beginSession(sql, lease.conversationId);
  const isHeld = alert?.heldUntil !== undefined && alert.heldUntil > now;
  await sql
    .updateTable('beat')
    .set({
      state: isHeld ? 'held' : turn.state,
      reason: turn.reason,
      turn_id: commit.turnId,
      input_tokens: commit.usage?.inputTokens ?? 0,
      output_tokens: commit.usage?.outputTokens ?? 0,
      finished_at: now,
      alert: alert?.text ?? null,
      fingerprint: alert?.fingerprint ?? null,
      ...(isHeld && heldColumns(alert)),
    })
    .where('id', '=', turn.id)
    .execute();
  if (alert !== undefined && !isHeld) {
    await tell(sql, { ...alert, target: run.target, turnId: commit.turnId }, now, newId);
  }
  return 'committed';
}

/** Each run is a session of its own: what was fixed for one holds no longer for the next. */
async function beginSession(sql: Sql, lane: string): Promise<void> {
  await sql
    .updateTable('conversation')
    .set((eb) => ({ session: eb('session', '+', 1) }))
    .where('id', '=', lane)
    .execute();
}

const Entry = z.object({
  role: z.enum(['user', 'assistant', 'tool', 'system']),
  content: z.unknown(),
});

const Parts = z.array(z.object({ route: ReplyRoute, body: RenderedPart, ...PartExtras.shape }));

function heldColumns({ heldUntil, entry, parts }: BeatAlert) {
  return { held_until: heldUntil ?? null, entry: toJson(entry), parts: toJson(parts) };
}

/** Lets go of the alerts whose time has come, the oldest first; where their parts went. */
export async function releaseBeats(
  sql: Sql,
  now: number,
  newId: NewId,
): Promise<readonly ReplyRoute[]> {
  const due = sql
    .selectFrom('beat')
    .select('target')
    .distinct()
    .where('state', '=', HELD_ALERT)
    .where('held_until', '<=', now)
    .orderBy('target');
  // All of them first, and by id: the lock order.
  const targets = (await due.execute()).map(({ target }) => target);
  for (const target of targets) await lockConversation(sql, target);
  if (targets.length === 0) return [];
  const rows = await sql
    .updateTable('beat')
    .set({ state: 'alerted' })
    .where('state', '=', HELD_ALERT)
    .where('held_until', '<=', now)
    .where('target', 'in', targets)
    .returning(['id', 'target', 'turn_id', 'entry', 'parts', 'finished_at'])
    .execute();
  const routes: ReplyRoute[] = [];
  for (const row of rows.toSorted(byEnd)) {
    const parts = fromCheckedJson(Parts, row.parts ?? '', `parts of the alert ${row.id}`);
    const entry = fromCheckedJson(Entry, row.entry ?? '', `words of the alert ${row.id}`);
    const turnId = row.turn_id ?? '';
    await tell(sql, { entry, parts, target: row.target, turnId }, now, newId);
    routes.push(...parts.map(({ route }) => route));
  }
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) {
    // What was said stands in the history and in the outbox now.
    await sql
      .updateTable('beat')
      .set({ entry: null, parts: null, held_until: null })
      .where('id', 'in', ids)
      .execute();
  }
  return routes;
}

type Released = Pick<Selectable<BeatTable>, 'finished_at'>;

function byEnd(one: Released, other: Released): number {
  return (one.finished_at ?? 0) - (other.finished_at ?? 0);
}

interface Telling extends Pick<BeatAlert, 'entry' | 'parts'> {
  readonly target: string;
  readonly turnId: string;
}

/** Puts an alert into the outbox and into the history of the conversation that it belongs to. */
async function tell(
  sql: Sql,
  { entry, parts, target, turnId }: Telling,
  now: number,
  newId: NewId,
): Promise<void> {
  const place = await sql
    .selectFrom('conversation')
    .select('session')
    .where('id', '=', target)
    .executeTakeFirstOrThrow();
  await sql
    .insertInto('transcript')
    .values({
      conversation_id: target,
      session: place.session,
      turn_id: turnId,
      role: entry.role,
      content: toJson(entry.content),
      created_at: now,
    })
    .execute();
  insertParts(sql, parts, { turnId, now, newId });
}
