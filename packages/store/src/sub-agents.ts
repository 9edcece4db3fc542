import {
  getConversationAgent,
  InboundMessage,
  type NewId,
  ReplyRoute,
  toAgentConversation,
} from '@parley/core';
import {
  COMPLETION,
  ensureConversation,
  isTurnRunning,
  lockConversation,
  SUB_AGENT_LANE,
} from './conversations.ts';
import { type Database, decodeCheckedJson, defineStatement, type Sql } from './database.ts';
import { type AdmittedMessage, addMessage, type Lease, type TurnCommit } from './rows.ts';
import { stopSubAgents } from './stop.ts';
import { commitTurn } from './turns.ts';

/**
 * Sub-agents with their tasks and results. The turn that delegates and the sub-agent's turns write
 * the `sub_agent` table; a sub-agent's turns are ordinary turns in a separate lane.
 */
export type SubAgentRepository = ReturnType<typeof createSubAgentRepository>;

export function createSubAgentRepository(database: Database, newId: NewId) {
  return {
    /**
     * Stores a run and the message that starts its first turn, in one transaction. `over`: the
     * asking turn was stopped or its session has ended.
     */
    start: (order: SubAgentTask, bounds: SubAgentBounds, now: number) =>
      database.write((sql) => startSubAgent(sql, order, bounds, now)),

    /** Finds the run in a lane; null if the lane does not belong to a sub-agent. */
    of: (conversationId: string): Promise<SubAgentRun | null> =>
      database.read(async (sql) => (await findSubAgentByLane(sql, conversationId)) ?? null),

    /**
     * Commits a sub-agent's turn. If the sub-agent's own sub-agents are still running, it continues
     * when they are done. Otherwise its run ends and its completion waits in the parent's inbox,
     * all in one fenced transaction, so that it is sent once. `wake`: the lane that now has work.
     */
    commit: (lease: Lease, turn: SubAgentTurn, now: number) =>
      database.write((sql) => commitSubAgent(sql, newId, lease, turn, now)),
  };
}

async function commitSubAgent(
  sql: Sql,
  newId: NewId,
  lease: Lease,
  turn: SubAgentTurn,
  now: number,
): Promise<
  { readonly kind: 'fenced' | 'goes-on' } | { readonly kind: 'over'; readonly wake: string }
> {
  const run = await findSubAgentByLane(sql, lease.conversationId);
  if (run === undefined) return { kind: 'fenced' };
  // Locks the conversations from the one with people down to the lane, in the order that all
  // callers follow.
  await lockConversation(sql, run.rootConversation);
  if (run.parentConversation !== run.rootConversation) {
    await lockConversation(sql, run.parentConversation);
  }
  const committed = await commitTurn(sql, { lease, commit: turn.commit, now, newId });
  if (committed === null) return { kind: 'fenced' };
  addSubAgentUsage(sql, run.id, turn);
  if (turn.state === 'done' && (await hasPendingSubAgents(sql, run))) return { kind: 'goes-on' };
  await endSubAgentRun(sql, run, turn, now);
  const { parentConversation: conversationId } = run;
  const isLane = conversationId !== run.rootConversation;
  const message = {
    conversationId,
    messageId: `${run.id}${COMPLETION}`,
    text: turn.text,
    ...(isLane && { chatId: conversationId }),
    now,
  };
  addMessage(sql, createInternalMessage(run, message));
  return { kind: 'over', wake: conversationId };
}

function findSubAgentByLane(sql: Sql, lane: string) {
  return sql.get(OF_LANE, { lane });
}

function addSubAgentUsage(sql: Sql, id: string, { commit: { usage }, steps }: SubAgentTurn): void {
  const [input, output] = [usage?.inputTokens ?? 0, usage?.outputTokens ?? 0];
  // If any cost is null, the sum is null as well, because the total is unknown.
  sql.send(ADD_USAGE, { id, steps, input, output, cost: usage === null ? 0 : usage.costUsd });
}

/** Whether a run's own sub-agents are still running or have just reported. */
async function hasPendingSubAgents(
  sql: Sql,
  { conversationId: lane, rootConversation: root }: SubAgentRow,
): Promise<boolean> {
  return (await sql.get(MORE_TO_DO, { lane, root })) !== undefined;
}

async function endSubAgentRun(
  sql: Sql,
  run: SubAgentRow,
  { state, result }: SubAgentTurn,
  now: number,
): Promise<void> {
  sql.send(END, { id: run.id, state, result, now });
  // The results of a failed run's sub-agents would not reach any turn, so the sub-agents are
  // stopped.
  if (state === 'failed') await stopSubAgents(sql, run.rootConversation, now, run.conversationId);
}

async function startSubAgent(
  sql: Sql,
  order: SubAgentTask,
  bounds: SubAgentBounds,
  now: number,
): Promise<
  | { readonly kind: 'started'; readonly conversationId: string }
  | { readonly kind: 'too-deep' | 'too-many' | 'over' }
> {
  const asking = await sql.get(ASKING, { turnId: order.turnId });
  if (asking === undefined) return { kind: 'over' };
  const parentRun = await findSubAgentByLane(sql, asking.conversation_id);
  const root = parentRun?.rootConversation ?? asking.conversation_id;
  // The lock also excludes a stop, and prevents two simultaneous starts from both taking the last
  // free place.
  await lockConversation(sql, root);
  const known = await sql.get(OF_CALL, { callId: order.callId });
  if (known !== undefined) return { kind: 'started', conversationId: known.conversation_id };
  if (!(await isTurnRunning(sql, order.turnId))) return { kind: 'over' };
  const depth = (parentRun?.depth ?? 0) + 1;
  if (depth > bounds.depth) return { kind: 'too-deep' };
  const running = (await sql.get(COUNT_RUNNING, { root }))?.count ?? 0;
  if (running >= bounds.concurrent) return { kind: 'too-many' };
  const asker = getConversationAgent(asking.conversation_id);
  const agent = order.to === undefined ? asker : order.to.agent;
  const lane = toAgentConversation(agent, `${SUB_AGENT_LANE}${order.id}`);
  ensureConversation(sql, lane, now);
  const origin = await findOrigin(sql, order.turnId, parentRun);
  sql.send(ADD, {
    id: order.id,
    callId: order.callId,
    lane,
    parent: asking.conversation_id,
    root,
    turnId: order.turnId,
    depth,
    title: order.title,
    task: order.task,
    reader: order.reader,
    ...origin,
    now,
  });
  const first = { messageId: order.id, text: order.text, chatId: lane, now };
  // An owner of the asking agent may have no rights with the lane's agent.
  const isAmongItself = agent === getConversationAgent(root);
  const by = isAmongItself ? origin : { ...origin, fromOwner: 0 };
  addMessage(sql, createInternalMessage(by, { conversationId: lane, ...first }));
  return { kind: 'started', conversationId: lane };
}

const SUB_AGENT_COLUMNS = `id, conversation_id as "conversationId",
  parent_conversation as "parentConversation", root_conversation as "rootConversation",
  parent_turn as "parentTurn", depth, title, task, reader, state, result, steps,
  input_tokens as "inputTokens", output_tokens as "outputTokens", cost_usd as "costUsd",
  started_at as "startedAt", finished_at as "finishedAt", origin, route, from_owner as "fromOwner"`;

const OF_LANE = defineStatement(
  `select ${SUB_AGENT_COLUMNS} from sub_agent where conversation_id = :lane`,
).rows<SubAgentRow>();

const OF_CALL = defineStatement(
  'select conversation_id from sub_agent where call_id = :callId',
).rows<{
  readonly conversation_id: string;
}>();

const ASKING = defineStatement('select conversation_id from turn where id = :turnId').rows<{
  readonly conversation_id: string;
}>();

const COUNT_RUNNING = defineStatement(`
  select count(*) as count from sub_agent where root_conversation = :root and state = 'running'`).rows<{
  readonly count: number;
}>();

const ADD = defineStatement(`
  insert into sub_agent (id, call_id, conversation_id, parent_conversation, root_conversation,
    parent_turn, depth, title, task, reader, origin, route, from_owner, state, started_at)
  values (:id, :callId, :lane, :parent, :root,
    :turnId, :depth, :title, :task, :reader, :origin, :route, :fromOwner, 'running', :now)`);

const ADD_USAGE = defineStatement(`
  update sub_agent set steps = steps + :steps, input_tokens = input_tokens + :input,
    output_tokens = output_tokens + :output, cost_usd = cost_usd + :cost
  where id = :id`);

const END = defineStatement(
  'update sub_agent set state = :state, result = :result, finished_at = :now where id = :id',
);

const MORE_TO_DO = defineStatement(`
  select id from sub_agent
  where root_conversation = :root and parent_conversation = :lane and state = 'running'
  union all select message_id from inbox where conversation_id = :lane and state = 'waiting'
  limit 1`).rows<{ readonly id: string }>();

const MESSAGES = defineStatement(`
  select message as origin, route, from_owner as "fromOwner" from inbox where turn_id = :turnId order by seq`).rows<RunOrigin>();

/** Finds the message and route of the person for whom the work is done. */
async function findOrigin(
  sql: Sql,
  turnId: string,
  parent: SubAgentRow | undefined,
): Promise<RunOrigin> {
  const rows = parent === undefined ? await sql.all(MESSAGES, { turnId }) : [parent];
  const last = rows.at(-1);
  if (last === undefined) throw new Error(`Turn ${turnId} does not have any messages to answer.`);
  const { origin, route } = last;
  return { origin, route, fromOwner: rows.every(({ fromOwner }) => fromOwner === 1) ? 1 : 0 };
}

/** A task for a sub-agent (G07). */
export interface SubAgentTask {
  /** A unique id of the run and its lane. */
  readonly id: string;
  /** The call that requests the run; a repeated call finds the same run. */
  readonly callId: string;
  /** The turn that requests the run; it must still be running. */
  readonly turnId: string;
  /** A short title shown to people. */
  readonly title: string;
  readonly task: string;
  /**
   * The other agent that performs the task (undefined: the default one); absent if the asking agent
   * performs it (F14).
   */
  readonly to?: { readonly agent: string | undefined };
  /** The reader in the asking turn, whose rights the sub-agent never exceeds. */
  readonly reader: SubAgentRun['reader'];
  /** The message for the sub-agent's first turn, in addition to its task. */
  readonly text: string;
}

/** The maximum number of sub-agents, and their maximum depth. */
export interface SubAgentBounds {
  /** If 1, sub-agents may not delegate. */
  readonly depth: number;
  /** How many sub-agents may run at a time per conversation with people, at all depths together. */
  readonly concurrent: number;
}

/** One sub-agent, running or finished; times are in ms. */
export interface SubAgentRun {
  readonly id: string;
  /** The sub-agent's lane. */
  readonly conversationId: string;
  /**
   * Where the sub-agent's completion goes: a conversation with people, or the lane of another
   * sub-agent.
   */
  readonly parentConversation: string;
  /** The conversation with people for which the work is done. */
  readonly rootConversation: string;
  readonly parentTurn: string;
  /** 1 for sub-agents started by a turn with people. */
  readonly depth: number;
  readonly title: string;
  readonly task: string;
  readonly reader: 'owner' | 'guest';
  readonly state: 'running' | 'done' | 'failed' | 'stopped';
  /** The sub-agent's result or failure as text; null while it is running. */
  readonly result: string | null;
  /** The total usage of all turns of the sub-agent. */
  readonly steps: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The cost in US dollars; null if the price of any step is unknown. */
  readonly costUsd: number | null;
  readonly startedAt: number;
  readonly finishedAt: number | null;
}

/** How a sub-agent's turn ends; it has no outbox parts, because sub-agents do not send anything. */
export interface SubAgentTurn {
  readonly commit: TurnCommit;
  /** The number of model calls in the turn. */
  readonly steps: number;
  readonly state: 'done' | 'failed';
  readonly result: string;
  /** The message to the parent, stored once because the run's id determines its message id. */
  readonly text: string;
}

/** A stored run with the fields that its messages need; `origin` and `route` are JSON. */
interface SubAgentRow extends SubAgentRun, RunOrigin {}

/**
 * The message for which a run works, the route for its answer, and whether an owner wrote it (1).
 */
interface RunOrigin {
  readonly origin: string;
  readonly route: string;
  readonly fromOwner: number;
}

/**
 * A message that Parley itself puts into a lane, and that cannot be confused with a message from
 * outside.
 */
interface InternalMessage {
  readonly conversationId: string;
  readonly messageId: string;
  readonly text: string;
  /**
   * Replaces the chat's id, so that messages in a lane without people are not confused with a
   * chat's messages.
   */
  readonly chatId?: string;
  readonly now: number;
}

/**
 * Builds the message for a run or its completion, with a new text and the chat and person that
 * asked for the work.
 */
function createInternalMessage(
  run: RunOrigin,
  { conversationId, messageId, text, chatId, now }: InternalMessage,
): AdmittedMessage {
  const origin = decodeCheckedJson(
    InboundMessage,
    run.origin,
    'message that a sub-agent works for',
  );
  const { channel, account, chat, sender } = origin;
  return {
    conversationId,
    route: decodeCheckedJson(ReplyRoute, run.route, 'reply route of a sub-agent'),
    receivedAt: now,
    fromOwner: run.fromOwner === 1,
    reason: 'a sub-agent works for this conversation',
    message: {
      channel,
      account,
      messageId,
      chat: chatId === undefined ? chat : { ...chat, id: chatId },
      sender,
      text,
      mentions: [],
      addressed: true,
      sentAt: now,
      variables: {},
      trigger: 'sub-agent',
    },
  };
}
