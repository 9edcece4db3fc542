import { getConversationAgent, removeAgentPrefix, toAgentConversation } from '@parley/core';
import { type Database, defineStatement, encodeJson, type Sql } from './database.ts';

/** An indexed memory's file and origin, without its text. */
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

/**
 * An agent's memory index (G14, F14). The files are authoritative; `rebuild` updates the index from
 * them.
 */
export type MemoryIndex = ReturnType<typeof createMemoryIndex>;

export function createMemoryIndex(database: Database, agent?: string) {
  // The index stores the agent as well, because workspaces of different agents contain files with
  // the same names.
  const stored = <Memory extends { readonly file: string }>(memory: Memory): Memory => ({
    ...memory,
    file: toAgentConversation(agent, memory.file),
  });
  return {
    add: (memory: IndexedMemory): Promise<void> =>
      database.write(async (sql) => sql.send(ADD, { ...stored(memory), uses: 0 })),

    remove: (memories: readonly Pick<IndexedMemory, 'file' | 'id'>[]): Promise<void> =>
      database.write(async (sql) => {
        for (const memory of memories) sql.send(REMOVE, stored(memory));
      }),

    /** Rebuilds the index entries of these files and keeps their usage counts. */
    rebuild: (memories: readonly IndexedMemory[], files: readonly string[]): Promise<void> =>
      database.write(async (sql) => {
        const known = await readMemoryUses(sql);
        const ofAgent = files.map((file) => toAgentConversation(agent, file));
        sql.send(EMPTY, { files: encodeJson(ofAgent) });
        for (const memory of memories)
          sql.send(ADD, { ...stored(memory), uses: known.get(memory.id) ?? 0 });
      }),

    /** Counts one use for each memory; a power cut may lose the latest counts. */
    used: async (ids: readonly string[]): Promise<void> => {
      if (ids.length > 0) await database.change('process', USED, { ids: encodeJson(ids) });
    },

    /** Reads how often each memory was used; leaves out unused memories. */
    uses: () => database.read(readMemoryUses),

    list: (): Promise<readonly IndexedMemory[]> =>
      database.read(async (sql) =>
        (await sql.all(LIST))
          .filter(({ file }) => getConversationAgent(file) === agent)
          .map((memory) => ({ ...memory, file: removeAgentPrefix(memory.file) })),
      ),
  };
}

async function readMemoryUses(sql: Sql): Promise<ReadonlyMap<string, number>> {
  return new Map((await sql.all(USES)).map(({ id, uses }) => [id, uses]));
}

/** An indexed memory stays unchanged. */
const ADD = defineStatement(`
  insert into memory_entry (file, id, type, scope, person, words, saved_on, channel, chat_id,
    message_id, uses)
  values (:file, :id, :type, :scope, :person, :words, :savedOn, :channel, :chatId, :messageId, :uses)
  on conflict (file, id) do nothing`);

const REMOVE = defineStatement('delete from memory_entry where file = :file and id = :id');

const EMPTY = defineStatement(
  'delete from memory_entry where file in (select value from json_each(:files))',
);

const USED = defineStatement(
  'update memory_entry set uses = uses + 1 where id in (select value from json_each(:ids))',
);

const USES = defineStatement('select id, uses from memory_entry where uses > 0').rows<{
  readonly id: string;
  readonly uses: number;
}>();

const LIST = defineStatement(`
  select file, id, type, scope, person, words, saved_on as "savedOn", channel, chat_id as "chatId",
    message_id as "messageId"
  from memory_entry order by file, id`).rows<IndexedMemory>();
