import type { NewId } from '@parley/contracts';
import type { Selectable } from 'kysely';
import { commitTurn } from './commit-turn.ts';
import { ensureConversation, isTurnRunning, lockConversation } from './conversations.ts';
import type { Database, Sql } from './database.ts';
import { INBOX_COLUMNS, readInboxRow } from './inbox-rows.ts';
import { toJson } from './json-column.ts';
import { RUNNING, SUB_AGENT_LANE, WAITING } from './literals.ts';
import type { Lease } from './rows.ts';
import { stopSubAgents } from './stop-lane.ts';
import {
  COMPLETION,
  ownMessage,
  putOwnMessage,
  readSubAgent,
  type SubAgentBounds,
  type SubAgentOrder,
  type SubAgentRun,
  type SubAgentTable,
  type SubAgentTurn,
} from './sub-agent-rows.ts';

/**
 * Sub-agents: what they were asked, and what came of it. The turn that delegates and the turns of the sub-agent
 * write the table `sub_agent`; these are ordinary turns of their own lanes.
 */
export type SubAgentRepository = ReturnType<typeof subAgentRepository>;

export function subAgentRepository(database: Database, newId: NewId) {
  return {
    /**
     * Starts a run: its row and the message that begins its first turn, in one transaction. `over`: the
     * asking turn was stopped, or its session has ended.
     */
    start: (order: SubAgentOrder, bounds: SubAgentBounds, now: number) =>
      database.write((sql) => startSubAgent(sql, order, bounds, now)),

    /** The run of a lane; null when it is no sub-agent's. */
    of: (conversationId: string): Promise<SubAgentRun | null> =>
      database.read(async (sql) => {
        const row = await laneRow(sql, conversationId);
        return row === undefined ? null : readSubAgent(row);
      }),

    /**
     * Commits a turn of a sub-agent. Unless sub-agents of its own still run (then it goes on when they
     * are done), its run ends, and its completion waits in the inbox of its parent: all in one fenced
     * transaction, so it is told once. `wake`: the lane that has work now.
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
  const run = await laneRow(sql, lease.conversationId);
  if (run === undefined) return { kind: 'fenced' };
  // From the conversation with people down to the lane itself: the order in which all lock them.
  await lockConversation(sql, run.root_conversation);
  if (run.parent_conversation !== run.root_conversation) {
    await lockConversation(sql, run.parent_conversation);
  }
  const committed = await commitTurn(sql, { lease, commit: turn.commit, now, newId });
  if (committed === null) return { kind: 'fenced' };
  await addUsage(sql, run.id, turn);
  if (turn.state === 'done' && (await hasMoreToDo(sql, run))) return { kind: 'goes-on' };
  await endRun(sql, run, turn, now);
  const { parent_conversation: conversationId } = run;
  const isLane = conversationId !== run.root_conversation;
  const chatId = isLane ? { chatId: conversationId } : {};
  const words = {
    conversationId,
    messageId: `${run.id}${COMPLETION}`,
    text: turn.words,
    ...chatId,
    now,
  };
  await putOwnMessage(sql, ownMessage(run, words));
  return { kind: 'over', wake: conversationId };
}

function laneRow(sql: Sql, lane: string): Promise<Selectable<SubAgentTable> | undefined> {
  return sql
    .selectFrom('sub_agent')
    .selectAll()
    .where('conversation_id', '=', lane)
    .executeTakeFirst();
}

async function addUsage(sql: Sql, id: string, { commit, steps }: SubAgentTurn): Promise<void> {
  const { usage } = commit;
  await sql
    .updateTable('sub_agent')
    .set((eb) => ({
      steps: eb('steps', '+', steps),
      input_tokens: eb('input_tokens', '+', usage?.inputTokens ?? 0),
      output_tokens: eb('output_tokens', '+', usage?.outputTokens ?? 0),
      // The sum with something unknown is unknown, in SQL as well.
      cost_usd: eb('cost_usd', '+', usage === null ? 0 : usage.costUsd),
    }))
    .where('id', '=', id)
    .execute();
}

/** Sub-agents of its own still run, or have just told it something. */
async function hasMoreToDo(
  sql: Sql,
  { conversation_id: lane, root_conversation: root }: Selectable<SubAgentTable>,
): Promise<boolean> {
  const child = await sql
    .selectFrom('sub_agent')
    .select('id')
    .where('root_conversation', '=', root)
    .where('parent_conversation', '=', lane)
    .where('state', '=', RUNNING)
    .executeTakeFirst();
  if (child !== undefined) return true;
  const waiting = await sql
    .selectFrom('inbox')
    .select('seq')
    .where('conversation_id', '=', lane)
    .where('state', '=', WAITING)
    .executeTakeFirst();
  return waiting !== undefined;
}

async function endRun(
  sql: Sql,
  run: Selectable<SubAgentTable>,
  { state, result }: SubAgentTurn,
  now: number,
): Promise<void> {
  await sql
    .updateTable('sub_agent')
    .set({ state, result, finished_at: now })
    .where('id', '=', run.id)
    .execute();
  // Of a run that has failed nobody would hear what its own sub-agents found.
  if (state === 'failed') await stopSubAgents(sql, run.root_conversation, now, run.conversation_id);
}

async function startSubAgent(
  sql: Sql,
  order: SubAgentOrder,
  bounds: SubAgentBounds,
  now: number,
): Promise<
  | { readonly kind: 'started'; readonly conversationId: string }
  | { readonly kind: 'too-deep' | 'too-many' | 'over' }
> {
  const asking = await sql
    .selectFrom('turn')
    .select(['conversation_id', 'session', 'state'])
    .where('id', '=', order.turnId)
    .executeTakeFirst();
  if (asking === undefined) return { kind: 'over' };
  const parentRun = await runOf(sql, asking.conversation_id);
  const root = parentRun?.root_conversation ?? asking.conversation_id;
  // Whoever stops the conversation locks it, too; two that start at once cannot both take the last room.
  await lockConversation(sql, root);
  const known = await sql
    .selectFrom('sub_agent')
    .select('conversation_id')
    .where('call_id', '=', order.callId)
    .executeTakeFirst();
  if (known !== undefined) return { kind: 'started', conversationId: known.conversation_id };
  if (!(await isTurnRunning(sql, order.turnId))) return { kind: 'over' };
  const depth = (parentRun?.depth ?? 0) + 1;
  if (depth > bounds.depth) return { kind: 'too-deep' };
  if ((await countRunning(sql, root)) >= bounds.atOnce) return { kind: 'too-many' };
  const lane = `${SUB_AGENT_LANE}${order.id}`;
  ensureConversation(sql, lane, now);
  const origin = await originOf(sql, order.turnId, parentRun);
  const run = await sql
    .insertInto('sub_agent')
    .values({
      id: order.id,
      call_id: order.callId,
      conversation_id: lane,
      parent_conversation: asking.conversation_id,
      root_conversation: root,
      parent_turn: order.turnId,
      depth,
      title: order.title,
      task: order.task,
      reader: order.reader,
      ...origin,
      state: 'running',
      started_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const first = { messageId: order.id, text: order.words, chatId: lane, now };
  await putOwnMessage(sql, ownMessage(run, { conversationId: lane, ...first }));
  return { kind: 'started', conversationId: lane };
}

function runOf(sql: Sql, lane: string): Promise<Selectable<SubAgentTable> | undefined> {
  return sql
    .selectFrom('sub_agent')
    .selectAll()
    .where('conversation_id', '=', lane)
    .executeTakeFirst();
}

async function countRunning(sql: Sql, root: string): Promise<number> {
  const row = await sql
    .selectFrom('sub_agent')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('root_conversation', '=', root)
    .where('state', '=', RUNNING)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Where the person is who all this is done for. */
async function originOf(
  sql: Sql,
  turnId: string,
  parent: Selectable<SubAgentTable> | undefined,
): Promise<Pick<Selectable<SubAgentTable>, 'origin' | 'route' | 'from_owner'>> {
  if (parent !== undefined) {
    return { origin: parent.origin, route: parent.route, from_owner: parent.from_owner };
  }
  const rows = await sql
    .selectFrom('inbox')
    .select(INBOX_COLUMNS)
    .where('turn_id', '=', turnId)
    .orderBy('seq')
    .execute();
  const messages = rows.map(readInboxRow);
  const last = messages.at(-1);
  if (last === undefined) throw new Error(`Turn ${turnId} has no messages to answer.`);
  const isOwners = messages.every(({ fromOwner }) => fromOwner === true);
  return {
    origin: toJson(last.message),
    route: toJson(last.route),
    from_owner: isOwners ? 1 : 0,
  };
}
