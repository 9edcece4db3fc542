import type { Insertable, Selectable } from 'kysely';
import type { Database, Sql } from './database.ts';
import { raw } from './kysely.ts';

/** A memory as the index knows it: where it stands and where it came from, and never its words. */
export interface IndexedMemory {
  readonly file: string;
  readonly id: string;
  readonly type: string;
  readonly scope: string;
  readonly person: string | null;
  readonly words: string;
  /** `2026-11-21` */
  readonly savedOn: string | null;
  readonly channel: string | null;
  readonly chatId: string | null;
  readonly messageId: string | null;
}

/** In the text, so that `memory_entry_used` serves the query. */
const NEVER = raw.lit<0>(0);

/** Rows that are written in one statement. */
const AT_ONCE = 200;

/** The index of memories (G14). The files are the truth: `rebuild` makes it what they say. */
export type MemoryIndex = ReturnType<typeof memoryIndexRepository>;

export function memoryIndexRepository(database: Database) {
  return {
    add: (memory: IndexedMemory) => database.write((sql) => insert(sql, [memory])),

    remove: (memories: readonly Pick<IndexedMemory, 'file' | 'id'>[]): Promise<void> =>
      database.write(async (sql) => {
        for (const { file, id } of memories) {
          await sql
            .deleteFrom('memory_entry')
            .where('file', '=', file)
            .where('id', '=', id)
            .execute();
        }
      }),

    /** Makes the index of these files anew; what is known of their use is kept. */
    rebuild: (memories: readonly IndexedMemory[], files: readonly string[]): Promise<void> =>
      database.write(async (sql) => {
        const known = await usesOf(sql);
        if (files.length > 0) {
          await sql.deleteFrom('memory_entry').where('file', 'in', files).execute();
        }
        await insert(sql, memories, known);
      }),

    /** Counts one use of each. A power cut may take the last ones. */
    used: (ids: readonly string[]): Promise<void> =>
      database.write(async (sql) => {
        if (ids.length === 0) return;
        await sql
          .updateTable('memory_entry')
          .set((eb) => ({ uses: eb('uses', '+', 1) }))
          .where('id', 'in', ids)
          .execute();
      }, 'process'),

    /** How often each was of use; those that never were are left out. */
    uses: () => database.read(usesOf),

    list: (): Promise<readonly IndexedMemory[]> =>
      database.read(async (sql) => {
        const rows = await sql
          .selectFrom('memory_entry')
          .selectAll()
          .orderBy('file')
          .orderBy('id')
          .execute();
        return rows.map(memoryOf);
      }),
  };
}

async function usesOf(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await sql
    .selectFrom('memory_entry')
    .select(['id', 'uses'])
    .where('uses', '>', NEVER)
    .execute();
  return new Map(rows.map(({ id, uses }) => [id, uses]));
}

/** A memory that is known already stays as it is. */
async function insert(
  sql: Sql,
  memories: readonly IndexedMemory[],
  uses: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  for (let at = 0; at < memories.length; at += AT_ONCE) {
    const rows = memories.slice(at, at + AT_ONCE).map((memory) => rowOf(memory, uses));
    await sql
      .insertInto('memory_entry')
      .values(rows)
      .onConflict((conflict) => conflict.columns(['file', 'id']).doNothing())
      .execute();
  }
}

function rowOf(
  { savedOn, chatId, messageId, ...memory }: IndexedMemory,
  uses: ReadonlyMap<string, number>,
): Insertable<MemoryEntryTable> {
  return {
    ...memory,
    saved_on: savedOn,
    chat_id: chatId,
    message_id: messageId,
    uses: uses.get(memory.id) ?? 0,
  };
}

function memoryOf({
  saved_on: savedOn,
  chat_id: chatId,
  message_id: messageId,
  uses: _uses,
  ...memory
}: Selectable<MemoryEntryTable>): IndexedMemory {
  return { ...memory, savedOn, chatId, messageId };
}

/** Where memories stand; their words are in the files. */
export interface MemoryEntryTable {
  file: string;
  id: string;
  type: string;
  scope: string;
  person: string | null;
  words: string;
  saved_on: string | null;
  channel: string | null;
  chat_id: string | null;
  message_id: string | null;
  uses: number;
}
