import { z } from 'zod';
import type { Sql } from '../database.ts';
import type { Without } from './rewrite-place.ts';

/** What an adapter keeps of a message it has sent, to send it once more. */
const Copy = z.object({ content: z.base64() });

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
