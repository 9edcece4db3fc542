import { InboundMessage, ReplyRoute } from '@parley/contracts';
import type { Sql } from '../database.ts';
import { fromCheckedJson, toJson } from '../json-column.ts';
import type { ChatKey } from '../outbox.ts';

/** Jobs go with a chat that gets a new id, such as a group that becomes a supergroup (H08). */
export async function moveCronJobs(
  sql: Sql,
  { channel, account, chatId }: ChatKey,
  newChatId: string,
): Promise<void> {
  // There are few of them, and no column tells their chat.
  const rows = await sql.selectFrom('cron_job').select(['id', 'origin', 'route']).execute();
  for (const row of rows) {
    const route = fromCheckedJson(ReplyRoute, row.route, `reply route of the job ${row.id}`);
    const isThere = route.channel === channel && route.account === account;
    if (!isThere || route.chatId !== chatId) continue;
    const origin = fromCheckedJson(InboundMessage, row.origin, `message of the job ${row.id}`);
    const chat = { ...origin.chat, id: newChatId };
    await sql
      .updateTable('cron_job')
      .set({
        origin: toJson({ ...origin, chat }),
        route: toJson({ ...route, chatId: newChatId }),
      })
      .where('id', '=', row.id)
      .execute();
  }
}
