import { withoutAgent } from '@parley/core';
import { type Sql, StoreError, statement } from './database.ts';
import type { ConversationMode, Lease } from './rows.ts';
import type { Row } from './tables.ts';

/** The rows of a `ChatKey`. */
export const OF_CHAT = 'channel = :channel and account = :account and chat_id = :chatId';

/** The chat a lane of deliveries belongs to; parts of one chat go out in order. */
export interface ChatKey {
  readonly channel: string;
  readonly account: string;
  readonly chatId: string;
}

/** Names a message as its platform does. */
export interface MessageKey extends ChatKey {
  readonly messageId: string;
}

/** The first part of the name of an agent's heartbeat lane; no chat ever has such a name. */
export const HEARTBEAT_LANE = 'beat:';

/** Begins what stands for the agent in the runs of a hook (H09), before its name; no agent has such a name. */
export const HOOK_AGENT = 'hook:';

/**
 * The first part of the name of a sub-agent's lane; no chat ever has such a name, since theirs begin with a channel.
 */
export const SUB_AGENT_LANE = 'sub:';

/** Whether a conversation is such a lane, of any agent (F14). */
export function isLane(conversationId: string, ...lanes: readonly string[]): boolean {
  const own = withoutAgent(conversationId);
  return lanes.some((lane) => own.startsWith(lane));
}

/** Behind the id of a sub-agent: the id of the message about its end. */
export const COMPLETION = '.over';

const ENSURE = statement(
  'insert into conversation (id, created_at) values (:id, :now) on conflict (id) do nothing',
);

// On SQLite the transaction itself keeps the others out.
const LOCK = statement(`
  select epoch, session, lease_owner, lease_until, mode, plan, plan_run, model, taken_over_until from conversation
  where id = :id /*pg for no key update*/`).rows<ConversationRow>();

/** Makes sure that a conversation has its row. */
export function ensureConversation(sql: Sql, id: string, now: number): void {
  sql.send(ENSURE, { id, now });
}

/**
 * Reads a conversation and keeps every other writer of it waiting until this transaction ends, in the
 * lock order of this package (README). Rows that merely refer to it are not kept waiting: the check of
 * a foreign key asks for `key share`, which `for update` would block.
 */
export function lockConversation(sql: Sql, id: string) {
  return sql.get(LOCK, { id });
}

/** The conversation if the lease still holds it, else null: then nothing may be written. */
export async function lockLeased(sql: Sql, lease: Lease) {
  const conversation = await lockConversation(sql, lease.conversationId);
  return conversation !== undefined && isHeld(lease, conversation.epoch) ? conversation : null;
}

/**
 * Checks that a lease belongs to the stored epoch. Throws StoreError `store-rewound` if the stored epoch is lower: epochs
 * only rise, so the database has gone back, two workers may get the same number, and the fence no longer separates them.
 */
export function isHeld({ conversationId, epoch }: Lease, stored: number): boolean {
  if (stored >= epoch) return stored === epoch;
  throw new StoreError(
    'store-rewound',
    `The epoch of ${conversationId} fell from ${epoch} to ${stored}: the database is older than what this process ` +
      'has read from it. Nothing was stored. Restart Parley after another copy was put in the place of its database.',
  );
}

/** Whether a turn is neither stopped nor of a session that `/new` has ended. */
export async function isTurnRunning(sql: Sql, turnId: string): Promise<boolean> {
  return (await sql.get(RUNS_IN_SESSION, { turnId })) !== undefined;
}

const RUNS_IN_SESSION = statement(`
  select turn.id from turn join conversation on conversation.id = conversation_id
  where turn.id = :turnId and turn.state = 'running' and turn.session = conversation.session`).rows<{
  readonly id: string;
}>();

/** One chat as a lane: fencing epoch, `/new` counter and the lease of the worker on it. */
export interface ConversationRow
  extends Omit<Row<'conversation'>, 'id' | 'mode' | 'mode_since' | 'created_at'> {
  readonly mode: ConversationMode;
}

/** The result of `/mode`. */
export interface ModeChange {
  readonly before: ConversationMode;
  readonly now: ConversationMode;
}

/**
 * The result of `/run`. `runs`: the command itself has become the message that runs the plan, and the conversation is
 * in agent mode now. `none`: there is no plan, or something was said since.
 */
export type PlanRun = 'runs' | 'was-run' | 'none';

/** Reads or sets (`to`) the mode of a conversation, which the caller has locked, and does nothing else. */
export async function changeMode(
  sql: Sql,
  conversationId: string,
  to: ConversationMode | null,
): Promise<ModeChange> {
  const { mode: before } = await heldBy(sql, conversationId);
  if (to === null || to === before) return { before, now: before };
  sql.send(SET_MODE, { id: conversationId, mode: to });
  return { before, now: to };
}

/** The result of `/model`; null: the model of the settings. */
export interface ModelChange {
  readonly now: string | null;
}

/** Reads or sets the model of a conversation, which the caller has locked; `null` is that of the settings. */
export async function changeModel(
  sql: Sql,
  conversationId: string,
  change: { readonly to: string | null } | 'show',
): Promise<ModelChange> {
  if (change === 'show') return { now: (await heldBy(sql, conversationId)).model };
  sql.send(SET_MODEL, { id: conversationId, model: change.to });
  return { now: change.to };
}

/**
 * Takes the plan of a conversation, which the caller has locked, so that it is run once. `plan` is the
 * turn that wrote it (null: the newest).
 */
export async function takePlan(
  sql: Sql,
  conversationId: string,
  plan: string | null,
): Promise<PlanRun> {
  const held = await heldBy(sql, conversationId);
  if (held.plan === null || (plan ?? held.plan) !== held.plan) return 'none';
  if (held.plan_run === 1) return 'was-run';
  if ((await sql.get(ONE_WAITING, { id: conversationId })) !== undefined) return 'none';
  sql.send(RUN_PLAN, { id: conversationId });
  return 'runs';
}

/** Something newer is said than the plan that was waiting, so it is not run any more. */
export function dropPlan(sql: Sql, conversationId: string): void {
  sql.send(DROP_PLAN, { id: conversationId });
}

async function heldBy(sql: Sql, conversationId: string) {
  const held = await sql.get(HELD, { id: conversationId });
  if (held === undefined) throw new Error(`There is no conversation ${conversationId}.`);
  return held;
}

const HELD = statement('select mode, plan, plan_run, model from conversation where id = :id').rows<
  Pick<ConversationRow, 'mode' | 'plan' | 'plan_run' | 'model'>
>();

const SET_MODE = statement('update conversation set mode = :mode where id = :id');

const SET_MODEL = statement('update conversation set model = :model where id = :id');

const RUN_PLAN = statement(`update conversation set mode = 'agent', plan_run = 1 where id = :id`);

const DROP_PLAN = statement('update conversation set plan = null where id = :id and plan_run = 0');

const ONE_WAITING = statement(
  `select seq from inbox where conversation_id = :id and state = 'waiting' limit 1`,
).rows<{ readonly seq: number }>();

/** The number of messages of a conversation that wait for a turn. */
export async function countWaiting(sql: Sql, conversationId: string): Promise<number> {
  return (await sql.get(COUNT_WAITING, { id: conversationId }))?.count ?? 0;
}

const COUNT_WAITING = statement(`
  select count(*) as count from inbox where conversation_id = :id and state = 'waiting'`).rows<{
  readonly count: number;
}>();
