import type { Sql } from '../database.ts';
import { RUNNING, WAITING } from './literals.ts';
import { stopLane } from './stop-lane.ts';
import { COMPLETION } from './sub-agent-row.ts';

/**
 * Ends all running sub-agents of a conversation with people, and gives back the names of their lanes;
 * with `parent` only those that it has started itself.
 * The caller has locked the conversation; lanes nearer to it are written first, so that nobody waits
 * for another in a circle.
 */
export async function stopSubAgents(
  sql: Sql,
  root: string,
  now: number,
  parent?: string,
): Promise<string[]> {
  const all = sql
    .selectFrom('sub_agent')
    .select(['id', 'conversation_id'])
    .where('root_conversation', '=', root)
    .where('state', '=', RUNNING)
    .orderBy('depth');
  const running = await (parent === undefined
    ? all
    : all.where('parent_conversation', '=', parent)
  ).execute();
  for (const { id, conversation_id } of running) {
    await stopLane(sql, conversation_id, now);
    await sql
      .updateTable('sub_agent')
      .set({ state: 'stopped', finished_at: now })
      .where('id', '=', id)
      .execute();
  }
  return running.map(({ conversation_id }) => conversation_id);
}

/** What sub-agents have found waits to be told: a session that was begun anew did not ask for it. */
export async function setResultsAside(sql: Sql, root: string): Promise<void> {
  await sql
    .updateTable('inbox')
    .set({ state: 'done', outcome: 'stopped' })
    .where('conversation_id', '=', root)
    .where('state', '=', WAITING)
    .where('message_id', 'in', (runs) =>
      runs
        .selectFrom('sub_agent')
        .select(({ eb, ref, val }) => eb(ref('id'), '||', val(COMPLETION)).as('message_id'))
        .where('root_conversation', '=', root),
    )
    .execute();
}
