import { type Sql, statement } from './database.ts';
import type { ConversationMode } from './modes.ts';
import type { Lease } from './rows.ts';

/** What the lane of an agent's heartbeat is called; no chat ever has such a name. */
export const HEARTBEAT_LANE = 'beat:';

/** What a sub-agent's lane is called; no chat ever has such a name, since theirs begin with a channel. */
export const SUB_AGENT_LANE = 'sub:';

const ENSURE = statement(
  'insert into conversation (id, created_at) values (:id, :now) on conflict (id) do nothing',
);

// On SQLite the transaction itself keeps the others out.
const LOCK = statement(`
  select epoch, session, lease_owner, lease_until, mode, plan, plan_run, model from conversation
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
  return conversation?.epoch === lease.epoch ? conversation : null;
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
export interface ConversationRow {
  readonly epoch: number;
  readonly session: number;
  readonly lease_owner: string | null;
  readonly lease_until: number | null;
  readonly mode: ConversationMode;
  /** The turn whose plan may be run; null when there is none, or something newer was said. */
  readonly plan: string | null;
  /** 1: it was run. */
  readonly plan_run: number;
  /** Chosen with `/model`; null: that of the settings. */
  readonly model: string | null;
}
