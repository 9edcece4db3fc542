import { removeAgentPrefix } from '@parley/core';
import { defineStatement, type Sql, StoreError } from './database.ts';
import type { ConversationMode, Lease } from './rows.ts';
import { OPEN_TOOLS_COLUMN } from './sessions.ts';
import type { Row } from './tables.ts';

/** The condition that selects the rows for a `ChatKey`. */
export const OF_CHAT = 'channel = :channel and account = :account and chat_id = :chatId';

/** Identifies a chat. A chat's parts are sent in order. */
export interface ChatKey {
  readonly channel: string;
  readonly account: string;
  readonly chatId: string;
}

/** Identifies a message by its platform id. */
export interface MessageKey extends ChatKey {
  readonly messageId: string;
}

/** The prefix for heartbeat lanes. No chat id starts with this prefix. */
export const HEARTBEAT_LANE = 'beat:';

/**
 * The prefix of the name that stands for the agent in hook runs (H09). No agent name starts with
 * this prefix.
 */
export const HOOK_AGENT = 'hook:';

/**
 * The prefix for sub-agent lanes. No chat id starts with this prefix, because chat ids start with a
 * channel.
 */
export const SUB_AGENT_LANE = 'sub:';

/** Whether a conversation is one of the given lanes, for any agent (F14). */
export function isLane(conversationId: string, ...lanes: readonly string[]): boolean {
  const own = removeAgentPrefix(conversationId);
  return lanes.some((lane) => own.startsWith(lane));
}

/** Appended to a sub-agent's id to form the id of the message that reports its result. */
export const COMPLETION = '.over';

const ENSURE = defineStatement(
  'insert into conversation (id, created_at) values (:id, :now) on conflict (id) do nothing',
);

// On SQLite, the transaction itself already excludes other writers.
const LOCK = defineStatement(`
  select epoch, session, lease_owner, lease_until, mode, plan, plan_run, model, taken_over_until,
    deleted_message, ${OPEN_TOOLS_COLUMN} from conversation
  where id = :id /*pg for no key update*/`).rows<ConversationRow>();

/** Creates the row of a conversation if it is missing. */
export function ensureConversation(sql: Sql, id: string, now: number): void {
  sql.send(ENSURE, { id, now });
}

/**
 * Reads a conversation and locks it against other writers until the transaction ends, following
 * this package's lock order (README). Other transactions can still insert rows that refer to it:
 * the foreign key check needs `key share`, which `for update` would block.
 */
export function lockConversation(sql: Sql, id: string) {
  return sql.get(LOCK, { id });
}

/**
 * Like `lockConversation`, for a change that a person makes in a list of conversations. Returns
 * undefined if no list shows the conversation, because another person may have deleted it before
 * the request arrived.
 */
export async function lockUndeletedConversation(
  sql: Sql,
  id: string,
): Promise<ConversationRow | undefined> {
  const conversation = await lockConversation(sql, id);
  if (conversation === undefined) return undefined;
  const deleted = conversation.deleted_message ?? 0;
  const found = await sql.get(NEWEST_MESSAGE, { id, deleted });
  return found?.newest == null ? undefined : conversation;
}

const NEWEST_MESSAGE = defineStatement(`
  select max(seq) as newest from inbox where conversation_id = :id and seq > :deleted`).rows<{
  readonly newest: number | null;
}>();

/**
 * Locks and returns the conversation if the lease still holds it. If this returns null, the caller
 * must not write.
 */
export async function lockLeasedConversation(sql: Sql, lease: Lease) {
  const conversation = await lockConversation(sql, lease.conversationId);
  return conversation !== undefined && holdsLease(lease, conversation.epoch) ? conversation : null;
}

/**
 * Checks that a lease has the stored epoch. Throws StoreError `store-rewound` if the stored epoch
 * is lower: epochs only rise, so the database was rolled back, and two workers could get the same
 * epoch.
 */
export function holdsLease({ conversationId, epoch }: Lease, stored: number): boolean {
  if (stored >= epoch) return stored === epoch;
  throw new StoreError(
    'store-rewound',
    `The epoch of ${conversationId} fell from ${epoch} to ${stored}: the database is older than what this process ` +
      'has read from it. Nothing was stored. Restart Parley after replacing its database with another copy.',
  );
}

/** Whether a turn is still running and belongs to the current session. */
export async function isTurnRunning(sql: Sql, turnId: string): Promise<boolean> {
  return (await sql.get(RUNS_IN_SESSION, { turnId })) !== undefined;
}

const RUNS_IN_SESSION = defineStatement(`
  select turn.id from turn join conversation on conversation.id = conversation_id
  where turn.id = :turnId and turn.state = 'running' and turn.session = conversation.session`).rows<{
  readonly id: string;
}>();

/** A conversation as a lane: its fencing epoch, its session counter and its worker's lease. */
export interface ConversationRow
  extends Omit<Row<'conversation'>, 'id' | 'mode' | 'mode_since' | 'created_at' | 'deleted_part'> {
  readonly mode: ConversationMode;
  /** The stored list of the session's opened tool groups. */
  readonly openTools: string | null;
}

/** The result of `/mode`. */
export interface ModeChange {
  readonly before: ConversationMode;
  readonly now: ConversationMode;
}

/**
 * The result of `/run`. `runs`: the command has become the message that runs the plan, and the
 * conversation is now in agent mode. `none`: the plan does not exist, or newer messages are
 * waiting.
 */
export type PlanRunResult = 'runs' | 'was-run' | 'none';

/** Reads a conversation's mode, or changes it to `to`; the caller has locked the conversation. */
export async function changeMode(
  sql: Sql,
  conversationId: string,
  to: ConversationMode | null,
): Promise<ModeChange> {
  const { mode: before } = await findLeaseHolder(sql, conversationId);
  if (to === null || to === before) return { before, now: before };
  sql.send(SET_MODE, { id: conversationId, mode: to });
  return { before, now: to };
}

/** The result of `/model`; null stands for the model in the settings. */
export interface ModelChange {
  readonly now: string | null;
}

/**
 * Reads or changes the model of a conversation that the caller has locked; `null` is the model in
 * the settings.
 */
export async function changeModel(
  sql: Sql,
  conversationId: string,
  change: { readonly to: string | null } | 'show',
): Promise<ModelChange> {
  if (change === 'show') return { now: (await findLeaseHolder(sql, conversationId)).model };
  sql.send(SET_MODEL, { id: conversationId, model: change.to });
  return { now: change.to };
}

/**
 * Takes a plan from a conversation that the caller has locked, so that the plan runs only once.
 * `plan` is the turn that wrote the plan; null selects the newest plan.
 */
export async function consumeStoredPlan(
  sql: Sql,
  conversationId: string,
  plan: string | null,
): Promise<PlanRunResult> {
  const held = await findLeaseHolder(sql, conversationId);
  if (held.plan === null || (plan ?? held.plan) !== held.plan) return 'none';
  if (held.plan_run === 1) return 'was-run';
  if ((await sql.get(ONE_WAITING, { id: conversationId })) !== undefined) return 'none';
  sql.send(RUN_PLAN, { id: conversationId });
  return 'runs';
}

/** Drops a waiting plan when a newer message arrives. */
export function dropPlan(sql: Sql, conversationId: string): void {
  sql.send(DROP_PLAN, { id: conversationId });
}

async function findLeaseHolder(sql: Sql, conversationId: string) {
  const held = await sql.get(HELD, { id: conversationId });
  if (held === undefined) throw new Error(`Conversation ${conversationId} does not exist.`);
  return held;
}

const HELD = defineStatement(
  'select mode, plan, plan_run, model from conversation where id = :id',
).rows<Pick<ConversationRow, 'mode' | 'plan' | 'plan_run' | 'model'>>();

const SET_MODE = defineStatement('update conversation set mode = :mode where id = :id');

const SET_MODEL = defineStatement('update conversation set model = :model where id = :id');

const RUN_PLAN = defineStatement(
  `update conversation set mode = 'agent', plan_run = 1 where id = :id`,
);

const DROP_PLAN = defineStatement(
  'update conversation set plan = null where id = :id and plan_run = 0',
);

const ONE_WAITING = defineStatement(
  `select seq from inbox where conversation_id = :id and state = 'waiting' limit 1`,
).rows<{ readonly seq: number }>();

/** Counts the messages in a conversation that are waiting for a turn. */
export async function countWaiting(sql: Sql, conversationId: string): Promise<number> {
  return (await sql.get(COUNT_WAITING, { id: conversationId }))?.count ?? 0;
}

const COUNT_WAITING = defineStatement(`
  select count(*) as count from inbox where conversation_id = :id and state = 'waiting'`).rows<{
  readonly count: number;
}>();
