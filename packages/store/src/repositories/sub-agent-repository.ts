import type { NewId } from '@parley/contracts';
import type { Selectable } from 'kysely';
import type { Database, Sql } from '../database.ts';
import type { Lease } from '../rows.ts';
import type { SubAgentRepository, SubAgentTurn } from '../sub-agents.ts';
import type { SubAgentTable } from '../tables/work-tables.ts';
import { commitTurn } from './commit-turn.ts';
import { lockConversation } from './conversation.ts';
import { RUNNING, WAITING } from './literals.ts';
import { startSubAgent } from './start-sub-agent.ts';
import { stopSubAgents } from './stop-sub-agents.ts';
import { COMPLETION, ownMessage, putOwnMessage, readSubAgent } from './sub-agent-row.ts';

/** Sub-agents on SQL. */
export function subAgentRepository(database: Database, newId: NewId): SubAgentRepository {
  return {
    start: (order, bounds, now) => database.write((sql) => startSubAgent(sql, order, bounds, now)),

    of: (conversationId) =>
      database.read(async (sql) => {
        const row = await laneRow(sql, conversationId);
        return row === undefined ? null : readSubAgent(row);
      }),

    commit: (lease, turn, now) =>
      database.write((sql) => commitSubAgent({ database, sql, newId }, lease, turn, now)),
  };
}

interface Writing {
  readonly database: Database;
  readonly sql: Sql;
  readonly newId: NewId;
}

async function commitSubAgent(
  { sql, newId }: Writing,
  lease: Lease,
  turn: SubAgentTurn,
  now: number,
): ReturnType<SubAgentRepository['commit']> {
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
