import { ReplyRoute } from '@parley/contracts';
import type { Sql } from '../database.ts';
import { fromCheckedJson, toJson } from '../json-column.ts';
import type { ChatKey } from '../outbox.ts';
import { UNFINISHED } from './literals.ts';
import { moveCronJobs } from './move-cron-jobs.ts';

/** Gives the unfinished parts of a chat its new id, in the column and in the route, and its jobs. */
export async function migrateChat(sql: Sql, chat: ChatKey, newChatId: string): Promise<void> {
  const rows = await sql
    .selectFrom('outbox')
    .select(['id', 'route'])
    .where('channel', '=', chat.channel)
    .where('account', '=', chat.account)
    .where('chat_id', '=', chat.chatId)
    .where('state', 'in', UNFINISHED)
    .orderBy('seq')
    .execute();
  for (const { id, route } of rows) {
    const old = fromCheckedJson(ReplyRoute, route, `route of part ${id}`);
    await sql
      .updateTable('outbox')
      .set({ chat_id: newChatId, route: toJson({ ...old, chatId: newChatId }) })
      .where('id', '=', id)
      .execute();
  }
  await moveCronJobs(sql, chat, newChatId);
}
