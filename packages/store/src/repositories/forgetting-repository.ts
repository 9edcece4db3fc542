import { open } from 'node:fs/promises';
import type { Database } from '../database.ts';
import type { Forgetting, ForgettingRepository, Forgotten, RawSearch } from '../forgetting.ts';
import { toJson } from '../json-column.ts';
import { raw } from '../kysely.ts';
import { forgetInCopies } from './forget-in-copies.ts';
import { forgetInPrompts } from './forget-in-prompts.ts';
import { forgetPerson } from './forget-person.ts';
import { FORGET_PLACES } from './forget-places.ts';
import { rewritePlace, type Without } from './rewrite-place.ts';
import { withoutWords } from './without-words.ts';

/** Forgetting on SQL: one transaction for each conversation, so that others wait only shortly. */
export function forgettingRepository(
  database: Database,
  promptsChanged: () => void,
): ForgettingRepository {
  return {
    async forget(forgetting) {
      const conversations = await conversationsOf(database, forgetting);
      const without = withoutWords(forgetting.words, forgetting.mark);
      const found = { history: 0, messages: 0, answers: 0, steps: 0, pins: 0 };
      for (const conversation of conversations) {
        await addUp(found, database, conversation, without);
      }
      const prompts = await database.write((sql) => forgetInPrompts(sql, conversations, without));
      promptsChanged();
      const copies = await database.write((sql) => forgetInCopies(sql, conversations, without));
      // Old pages lie in the log until it is written back.
      await onSqlite(database, 'pragma wal_checkpoint(truncate)');
      return { ...found, prompts, copies };
    },
    async forgetPerson(forgetting) {
      const forgotten = await forgetPerson(database, forgetting);
      promptsChanged();
      await onSqlite(database, 'pragma wal_checkpoint(truncate)');
      return forgotten;
    },
    searchFiles: (texts) => searchFiles(database, texts),
  };
}

/** Read at a time, and of all files together: a person waits. In bytes. */
const CHUNK = 1_024 * 1_024;
const MOST_READ = 512 * 1_024 * 1_024;

async function searchFiles(
  database: Database,
  texts: readonly string[],
): Promise<RawSearch | null> {
  if (database.dialect !== 'sqlite') return null;
  const { rows } = await database.read((sql) =>
    raw<{ file: string }>`select file from pragma_database_list where name = 'main'`.execute(sql),
  );
  const [{ file } = { file: '' }] = rows;
  if (file === '') return null;
  // As they stand in JSON.
  const left = new Set(texts.map((text) => Buffer.from(toJson(text).slice(1, -1))));
  const overlap = Math.max(0, ...[...left].map(({ length }) => length));
  let budget = MOST_READ;
  for (const name of [file, `${file}-wal`]) {
    const handle = await open(name).catch(() => null);
    if (handle === null) continue;
    try {
      const buffer = Buffer.alloc(CHUNK + overlap);
      for (let at = 0; budget > 0; at += CHUNK) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
        const bytes = buffer.subarray(0, bytesRead);
        for (const text of left) if (bytes.includes(text)) left.delete(text);
        if (bytesRead < buffer.length) break;
        budget -= CHUNK;
      }
    } finally {
      await handle.close();
    }
  }
  return { found: texts.length - left.size, complete: budget > 0 };
}

async function addUp(
  found: Record<Exclude<keyof Forgotten, 'prompts' | 'copies'>, number>,
  database: Database,
  conversation: string,
  without: Without,
): Promise<void> {
  const counted = await database.write(async (sql) => {
    const counts: (readonly [keyof typeof found, number])[] = [];
    for (const place of FORGET_PLACES) {
      counts.push([place.counts, await rewritePlace(sql, place, conversation, without)]);
    }
    return counts;
  });
  for (const [what, rows] of counted) found[what] += rows;
}

async function onSqlite(database: Database, statement: string): Promise<void> {
  if (database.dialect !== 'sqlite') return;
  await database.read((sql) => raw.raw(statement).execute(sql));
}

async function conversationsOf(
  database: Database,
  { conversations, ownersToo }: Forgetting,
): Promise<readonly string[]> {
  return database.read(async (sql) => {
    const owners = ownersToo
      ? await sql
          .selectFrom('inbox')
          .select('conversation_id')
          .distinct()
          .where('from_owner', '=', 1)
          .execute()
      : [];
    const own = [...conversations, ...owners.map((row) => row.conversation_id)];
    // What was handed on went on in conversations of its own.
    const handedOn = await sql
      .selectFrom('sub_agent')
      .select('conversation_id')
      .where('root_conversation', 'in', own)
      .execute();
    return [...new Set([...own, ...handedOn.map((row) => row.conversation_id)])];
  });
}
