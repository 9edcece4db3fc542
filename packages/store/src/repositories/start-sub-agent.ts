import type { Selectable } from 'kysely';
import type { Sql } from '../database.ts';
import { toJson } from '../json-column.ts';
import {
  SUB_AGENT_LANE,
  type SubAgentBounds,
  type SubAgentOrder,
  type SubAgentRepository,
} from '../sub-agents.ts';
import type { SubAgentTable } from '../tables/work-tables.ts';
import { ensureConversation, lockConversation } from './conversation.ts';
import { INBOX_COLUMNS, readInboxRow } from './inbox-row.ts';
import { RUNNING } from './literals.ts';
import { isTurnRunning } from './running-turn.ts';
import { ownMessage, putOwnMessage } from './sub-agent-row.ts';

/** Makes the run and the message that begins it, unless the call has done so before. */
export async function startSubAgent(
  sql: Sql,
  order: SubAgentOrder,
  bounds: SubAgentBounds,
  now: number,
): ReturnType<SubAgentRepository['start']> {
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
