import type { RawBuilder } from 'kysely';
import { z } from 'zod';
import type { Sql } from '../database.ts';
import { raw } from '../kysely.ts';
import type { Without } from './rewrite-place.ts';

/** What an adapter keeps of a message it has sent, to send it once more. */
const Copy = z.object({ id: z.string().optional(), content: z.base64() });

/**
 * Drops the copies that adapters keep of what they have sent (`sent`), where the words stand in them:
 * a telephone that asks for such a message again does not get it. Their bytes are the platform's, so
 * nothing can be taken out of them.
 */
export async function forgetInCopies(
  sql: Sql,
  conversations: readonly string[],
  without: Without,
): Promise<number> {
  if (conversations.length === 0) return 0;
  const accounts = await sql
    .selectFrom('inbox')
    .select(['channel', 'account'])
    .distinct()
    .where('conversation_id', 'in', conversations)
    .execute();
  let count = 0;
  for (const { channel, account } of accounts) {
    const kept = sql
      .selectFrom('adapter_value')
      .where('channel', '=', channel)
      .where('account', '=', account)
      .where('kind', '=', 'sent');
    for (const { id, value } of await kept.select(['id', 'value']).execute()) {
      if (!holdsWords(value, without)) continue;
      await sql
        .deleteFrom('adapter_value')
        .where('channel', '=', channel)
        .where('account', '=', account)
        .where('kind', '=', 'sent')
        .where('id', '=', id)
        .execute();
      count += 1;
    }
  }
  return count;
}

/** Drops the copies of parts, whatever they say. */
export async function dropCopies(sql: Sql, parts: RawBuilder<unknown>): Promise<void> {
  const { rows } = await raw<{ channel: string; account: string; platform_message_id: string }>`
    select channel, account, platform_message_id from outbox
    where ${parts} and platform_message_id is not null
  `.execute(sql);
  const [one] = rows;
  if (one === undefined) return;
  const ids = new Set(rows.map((row) => row.platform_message_id));
  const kept = sql
    .selectFrom('adapter_value')
    .where('channel', '=', one.channel)
    .where('account', '=', one.account)
    .where('kind', '=', 'sent');
  for (const { id, value } of await kept.select(['id', 'value']).execute()) {
    const copy = Copy.safeParse(parsed(value));
    if (!copy.success || !ids.has(copy.data.id ?? '')) continue;
    await sql
      .deleteFrom('adapter_value')
      .where('channel', '=', one.channel)
      .where('account', '=', one.account)
      .where('kind', '=', 'sent')
      .where('id', '=', id)
      .execute();
  }
}

function holdsWords(value: string, without: Without): boolean {
  const copy = Copy.safeParse(parsed(value));
  const text = copy.success ? Buffer.from(copy.data.content, 'base64').toString('utf8') : value;
  return without(text) !== text;
}

function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    // No JSON is looked at as the text it is.
    return null;
  }
}
