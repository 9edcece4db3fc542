import type { Sql } from '../database.ts';
import { type Change, changed, inPlain } from './rewritten-rows.ts';

/** Takes words out of what was done for a conversation: to-dos, questions for a yes, tasks handed on. */
export async function forgetInWork(
  sql: Sql,
  conversation: string,
  change: Change,
): Promise<number> {
  return (
    (await inTodos(sql, conversation, change)) +
    (await inApprovals(sql, conversation, change)) +
    (await inSubAgents(sql, conversation, change))
  );
}

async function inTodos(sql: Sql, conversation: string, change: Change): Promise<number> {
  const rows = await sql
    .selectFrom('todo_list')
    .select('content')
    .where('conversation_id', '=', conversation)
    .execute();
  return changed(
    rows,
    ({ content }) => change(content),
    (_row, content) =>
      sql
        .updateTable('todo_list')
        .set({ content })
        .where('conversation_id', '=', conversation)
        .execute(),
  );
}

async function inApprovals(sql: Sql, conversation: string, change: Change): Promise<number> {
  const rows = await sql
    .selectFrom('approval')
    .select(['seq', 'shown'])
    .where('conversation_id', '=', conversation)
    .execute();
  return changed(
    rows,
    ({ shown }) => inPlain(shown, change),
    ({ seq }, shown) => sql.updateTable('approval').set({ shown }).where('seq', '=', seq).execute(),
  );
}

async function inSubAgents(sql: Sql, conversation: string, change: Change): Promise<number> {
  const rows = await sql
    .selectFrom('sub_agent')
    .select(['id', 'title', 'task', 'result', 'origin'])
    .where('root_conversation', '=', conversation)
    .execute();
  let count = 0;
  for (const { id, ...row } of rows) {
    const title = inPlain(row.title, change) ?? row.title;
    const task = inPlain(row.task, change) ?? row.task;
    const result = row.result === null ? null : (inPlain(row.result, change) ?? row.result);
    const origin = change(row.origin) ?? row.origin;
    const same =
      title === row.title && task === row.task && result === row.result && origin === row.origin;
    if (same) continue;
    await sql
      .updateTable('sub_agent')
      .set({ title, task, result, origin })
      .where('id', '=', id)
      .execute();
    count += 1;
  }
  return count;
}
