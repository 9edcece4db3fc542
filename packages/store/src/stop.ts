import { withdrawApprovals } from './approvals.ts';
import { COMPLETION } from './conversations.ts';
import { defineStatement, encodeJson, type Sql } from './database.ts';
import { clearGroupContext, releaseGroupContext } from './group-context.ts';
import { INBOX_COLUMNS, type MessageRow, readInboxRow } from './rows.ts';
import { BY_STOP } from './turns.ts';

export interface StoppedWork {
  /** A turn that was running, or waiting to be resumed. */
  readonly stoppedTurn: string | null;
  /** The number of waiting messages that were set aside. */
  readonly setAside: number;
  /** The lanes of the sub-agents that were running. */
  readonly stoppedSubAgents: readonly string[];
}

/** Starts a session with an empty history and stops the previous session's sub-agents. */
export async function startSession(
  sql: Sql,
  conversationId: string,
  now: number,
): Promise<Pick<StoppedWork, 'stoppedSubAgents'>> {
  sql.send(NEW_SESSION, { conversationId });
  clearGroupContext(sql, conversationId);
  sql.send(SET_RESULTS_ASIDE, { root: conversationId, completion: COMPLETION });
  return { stoppedSubAgents: await stopSubAgents(sql, conversationId, now) };
}

const NEW_SESSION = defineStatement(
  'update conversation set session = session + 1, plan = null where id = :conversationId',
);

/**
 * Stops all work in a conversation on behalf of a person (`telegram:42`); the caller has locked the
 * conversation.
 */
export async function stopConversation(
  sql: Sql,
  conversationId: string,
  by: string,
  now: number,
): Promise<StoppedWork> {
  withdrawApprovals(sql, conversationId, by, now);
  return {
    ...(await stopLane(sql, conversationId, now, BY_STOP)),
    stoppedSubAgents: await stopSubAgents(sql, conversationId, now),
  };
}

/**
 * Stops a lane's running turn and sets its waiting messages aside; the caller has locked the lane.
 */
export async function stopLane(
  sql: Sql,
  conversationId: string,
  now: number,
  reason?: typeof BY_STOP,
): Promise<Pick<StoppedWork, 'stoppedTurn' | 'setAside'>> {
  sql.send(FENCE, { conversationId });
  withdrawApprovals(sql, conversationId, null, now);
  return {
    stoppedTurn: await stopRunningTurn(sql, conversationId, now, reason),
    setAside: await sql.run(SET_ASIDE, { conversationId, now }),
  };
}

/**
 * Like `stopLane`, for a person who may stop only their own work: the running turn, if all of its
 * messages are theirs, and their own waiting messages.
 */
export async function stopTurnOfSender(
  sql: Sql,
  conversationId: string,
  senderId: string,
  now: number,
): Promise<StoppedWork> {
  const rows = await sql.all(UNDONE, { conversationId });
  const messages = rows.map((row) => ({
    seq: row.seq,
    turn: row.turn,
    isOwn: readInboxRow(row).message.sender.id === senderId,
  }));
  const running = messages.filter(({ turn }) => turn !== null);
  const waiting = messages.filter(({ turn, isOwn }) => turn === null && isOwn);
  const seqs = encodeJson(waiting.map(({ seq }) => seq));
  const isOwnTurn = running.length > 0 && running.every(({ isOwn }) => isOwn);
  if (isOwnTurn) {
    sql.send(FENCE, { conversationId });
    withdrawApprovals(sql, conversationId, null, now);
  }
  return {
    stoppedTurn: isOwnTurn ? await stopRunningTurn(sql, conversationId, now, BY_STOP) : null,
    setAside: await sql.run(SET_SOME_ASIDE, { conversationId, now, seqs }),
    stoppedSubAgents: [],
  };
}

async function stopRunningTurn(
  sql: Sql,
  conversationId: string,
  now: number,
  reason: typeof BY_STOP | null = null,
): Promise<string | null> {
  const turn = await sql.get(STOP_TURN, { conversationId, now, reason });
  if (turn === undefined) return null;
  sql.send(STOP_MESSAGES, { turnId: turn.id });
  releaseGroupContext(sql, conversationId, turn.id);
  return turn.id;
}

/**
 * Ends all running sub-agents in a conversation with people and returns their lanes; with `parent`,
 * ends only those that it started directly. The caller has locked the conversation. Lanes closer to
 * the conversation are written first, so that processes cannot deadlock.
 */
export async function stopSubAgents(
  sql: Sql,
  root: string,
  now: number,
  parent?: string,
): Promise<string[]> {
  const all = await sql.all(RUNNING_SUB_AGENTS, { root });
  const running = all.filter((run) => parent === undefined || run.parent_conversation === parent);
  for (const { id, conversation_id } of running) {
    await stopLane(sql, conversation_id, now);
    sql.send(STOP_SUB_AGENT, { id, now });
  }
  return running.map(({ conversation_id }) => conversation_id);
}

// States are literals, because a partial index is used only if the query contains the index
// condition.
const UNDONE = defineStatement(`
  select ${INBOX_COLUMNS}, turn.id as turn from inbox left join turn on turn.id = inbox.turn_id
  where inbox.conversation_id = :conversationId
    and (inbox.state = 'waiting' or turn.state = 'running')`).rows<
  MessageRow & { readonly turn: string | null }
>();

/**
 * Once the epoch is raised, the running worker cannot write anything more, and the next worker may
 * start.
 */
const FENCE = defineStatement(`
  update conversation set epoch = epoch + 1, lease_owner = null, lease_until = null, plan = null
  where id = :conversationId`);

const STOP_TURN = defineStatement(`
  update turn set state = 'stopped', finished_at = :now, reason = :reason
  where conversation_id = :conversationId and state = 'running' returning id`).rows<{
  readonly id: string;
}>();

const STOP_MESSAGES = defineStatement(
  "update inbox set state = 'done', outcome = 'stopped' where turn_id = :turnId",
);

const SET_ASIDE = defineStatement(`
  update inbox set state = 'done', outcome = 'stopped', done_at = :now
  where conversation_id = :conversationId and state = 'waiting'`);

const SET_SOME_ASIDE = defineStatement(`
  update inbox set state = 'done', outcome = 'stopped', done_at = :now
  where conversation_id = :conversationId and state = 'waiting'
    and seq in (select cast(value as bigint) from json_each(:seqs))`);

const RUNNING_SUB_AGENTS = defineStatement(`
  select id, conversation_id, parent_conversation from sub_agent
  where root_conversation = :root and state = 'running' order by depth`).rows<{
  readonly id: string;
  readonly conversation_id: string;
  readonly parent_conversation: string;
}>();

const STOP_SUB_AGENT = defineStatement(
  "update sub_agent set state = 'stopped', finished_at = :now where id = :id",
);

/** Sets aside waiting sub-agent results, because the new session did not ask for them. */
const SET_RESULTS_ASIDE = defineStatement(`
  update inbox set state = 'done', outcome = 'stopped'
  where conversation_id = :root and state = 'waiting' and message_id in (
    select id || :completion from sub_agent where root_conversation = :root)`);
