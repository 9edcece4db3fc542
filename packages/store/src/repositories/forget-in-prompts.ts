import { setImmediate as pause } from 'node:timers/promises';
import type { Database, Sql } from '../database.ts';
import { fromJson } from '../json-column.ts';
import { hashed, hashesOf } from './prompt-row.ts';

/**
 * Takes words out of the recorded prompts of conversations (P17). A text is known by its hash and may
 * belong to prompts of others: these keep it, and the changed text gets a hash of its own.
 */
export async function forgetInPrompts(
  sql: Sql,
  conversations: readonly string[],
  without: (value: unknown) => unknown,
): Promise<number> {
  if (conversations.length === 0) return 0;
  const rows = await sql
    .selectFrom('turn_prompt')
    .select(['turn_id', 'parts'])
    .where('conversation_id', 'in', conversations)
    .execute();
  const renamed = new Map<string, string | null>();
  let count = 0;
  for (const row of rows) {
    let parts = row.parts;
    for (const hash of hashesOf(row)) {
      if (!renamed.has(hash)) renamed.set(hash, await changedText(sql, hash, without));
      const fresh = renamed.get(hash) ?? null;
      if (fresh !== null) parts = parts.replaceAll(JSON.stringify(hash), JSON.stringify(fresh));
    }
    if (parts === row.parts) continue;
    await sql
      .updateTable('turn_prompt')
      .set({ parts })
      .where('turn_id', '=', row.turn_id)
      .execute();
    count += 1;
  }
  for (const [hash, fresh] of renamed) if (fresh !== null) await dropUnused(sql, hash);
  return count;
}

/** The hash of the text without the words, stored already; null where they are not in it. */
async function changedText(
  sql: Sql,
  hash: string,
  without: (value: unknown) => unknown,
): Promise<string | null> {
  const row = await sql
    .selectFrom('prompt_text')
    .select(['content', 'used_at'])
    .where('hash', '=', hash)
    .executeTakeFirst();
  if (row === undefined) return null;
  const before = fromJson(row.content);
  const after = without(before);
  if (after === before) return null;
  const text = hashed(String(after));
  await sql
    .insertInto('prompt_text')
    .values({ ...text, used_at: row.used_at })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
  return text.hash;
}

async function dropUnused(sql: Sql, hash: string): Promise<void> {
  const used = await sql
    .selectFrom('turn_prompt')
    .select('turn_id')
    .where('parts', 'like', `%${hash.replaceAll(/[%_]/g, '_')}%`)
    .executeTakeFirst();
  if (used === undefined) await sql.deleteFrom('prompt_text').where('hash', '=', hash).execute();
}

/** Rows of one transaction. */
const BATCH = 500;

/** Drops the texts that no prompt refers to any more, a few at a time. */
export async function dropUnusedTexts(database: Database): Promise<void> {
  const used = new Set<string>();
  for (let after = ''; ; ) {
    const rows = await database.read((sql) =>
      sql
        .selectFrom('turn_prompt')
        .select(['turn_id', 'parts'])
        .where('turn_id', '>', after)
        .orderBy('turn_id')
        .limit(BATCH)
        .execute(),
    );
    for (const { parts } of rows) {
      for (const [hash] of parts.matchAll(/[\w-]{43}/g)) used.add(hash);
    }
    after = rows.at(-1)?.turn_id ?? after;
    await pause();
    if (rows.length < BATCH) break;
  }
  const hashes = await database.read((sql) =>
    sql.selectFrom('prompt_text').select('hash').execute(),
  );
  const unused = hashes.map(({ hash }) => hash).filter((hash) => !used.has(hash));
  for (let at = 0; at < unused.length; at += BATCH) {
    const some = unused.slice(at, at + BATCH);
    await database.write((sql) =>
      sql.deleteFrom('prompt_text').where('hash', 'in', some).execute(),
    );
    await pause();
  }
}
