import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { getConversationAgent } from '@parley/core';
import { type Database, defineStatement, encodeJson } from '../database.ts';
import type { StoredFiles } from '../files/stored-files.ts';
import { MARKS } from '../rows.ts';
import type { SharedClock } from '../shared-clock.ts';
import { listPartsWithText, listTurns } from './carried-words.ts';
import { dropUnusedPromptTexts, forgetInPrompts, forgetInSentCopies } from './copies.ts';
import type { DeletionCounts, DeletionRequest, DeletionResult } from './delete-conversation.ts';
import { FORGOTTEN_TABLES, getForgottenTable, rewriteRows } from './forgotten-tables.ts';
import type { PersonForgetRequest, PersonForgetResult } from './person.ts';
import { forgetPerson } from './person.ts';
import { createPhraseRedactor, type Redact } from './phrase-redactor.ts';

/** What to forget, and where. */
export interface ForgetRequest {
  /** The conversations to change; with `ownersToo`, also every direct chat with an owner. */
  readonly conversations: readonly string[];
  readonly ownersToo: boolean;
  /** Exact phrases, ignoring case. */
  readonly phrases: readonly string[];
}

/** The number of rows changed by forgetting, by kind. */
export interface ForgottenCounts {
  /** Rows of the history shown to the model. */
  readonly history: number;
  /** Received messages and group context. */
  readonly messages: number;
  /** Sent answers. */
  readonly answers: number;
  /** Turn steps: tool calls and their results. */
  readonly steps: number;
  /** Other rows: session notes and summaries, to-dos, jobs, tasks, approvals. */
  readonly pins: number;
  /** Recorded prompts from past turns. */
  readonly prompts: number;
  /** Adapters' copies of sent messages, which are dropped completely. */
  readonly copies: number;
}

/** The result of searching the database files; null if the files are on a server. */
export interface RawSearchResult {
  /** How many of the given texts are still stored somewhere. */
  readonly found: number;
  /** False if the files exceed the part that was read. */
  readonly complete: boolean;
}

/**
 * Removes phrases, or everything that a person has written, from all stored data about
 * conversations with an agent (G15).
 */
export type ForgettingRepository = ReturnType<typeof createForgettingRepository>;

interface ForgettingDeps {
  readonly database: Database;
  readonly sharedClock: SharedClock;
  readonly files: StoredFiles;
  /** The folder for files; null if the database itself stores them. */
  readonly folder: string | null;
  readonly promptsChanged: () => void;
}

export function createForgettingRepository(
  { database, sharedClock, files, folder, promptsChanged }: ForgettingDeps,
  agent?: string,
) {
  return {
    /**
     * Changes rows that are stored now; rows stored during the call may still contain the phrases.
     */
    async forget(forgetting: ForgetRequest): Promise<ForgottenCounts> {
      const conversations = await listConversationsToForget(database, forgetting, agent);
      const without = createPhraseRedactor(forgetting.phrases, MARKS.forgotten);
      const found = { history: 0, messages: 0, answers: 0, steps: 0, pins: 0 };
      for (const conversation of conversations) {
        await sumForgottenCounts(found, database, conversation, without);
      }
      found.answers += await forgetInParts(database, conversations, without);
      const prompts = await database.write((sql) => forgetInPrompts(sql, conversations, without));
      promptsChanged();
      const copies = await database.write((sql) => forgetInSentCopies(sql, conversations, without));
      await emptySearchEntries(database);
      // Deleted text remains in the write-ahead log until the log is emptied.
      await emptyWriteAheadLog(database);
      return { ...found, prompts, copies };
    },
    /**
     * Stops running work for a person, then forgets everything they have written. Direct chats are
     * emptied. In groups, their messages, the answers to them and everything that mixes several
     * people's text (summaries, recorded prompts, steps) are removed, and other people's messages
     * stay. Works in short transactions, so that other writers wait only briefly.
     */
    async forgetPerson(forgetting: PersonForgetRequest): Promise<PersonForgetResult> {
      const named = await files.named();
      const forgotten = await forgetPerson(database, forgetting, agent);
      await files.release(named);
      promptsChanged();
      await emptySearchEntries(database);
      await emptyWriteAheadLog(database);
      return forgotten;
    },
    /** Deletes a conversation with all of its messages; null if it does not exist. */
    async deleteConversation(deletion: DeletionRequest): Promise<DeletionResult | null> {
      const { deleteConversation } = await import('./delete-conversation.ts');
      const named = await files.named();
      const deleted = await deleteConversation(database, deletion, sharedClock);
      if (deleted === null) return null;
      await dropUnusedPromptTexts(database);
      await files.release(named);
      promptsChanged();
      await emptySearchEntries(database);
      await emptyWriteAheadLog(database);
      return deleted;
    },
    /** Counts the rows that deleting a conversation would remove; null if it does not exist. */
    async countForDeletion(conversationId: string): Promise<DeletionCounts | null> {
      const { countRowsForDeletion } = await import('./delete-conversation.ts');
      return database.read((sql) => countRowsForDeletion(sql, conversationId));
    },
    /**
     * Searches the database files byte by byte for the given texts, including freed space and
     * accompanying files.
     */
    searchFiles: (texts: readonly string[]): Promise<RawSearchResult | null> =>
      searchFiles(database, folder, texts),
  };
}

/**
 * The number of bytes read at a time; `MAX_READ_BYTES` limits the total, because a person is
 * waiting.
 */
const CHUNK = 1_024 * 1_024;

const MAX_READ_BYTES = 512 * 1_024 * 1_024;

const MAIN_FILE = defineStatement(
  "select file from pragma_database_list where name = 'main'",
).rows<{
  readonly file: string;
}>();

async function searchFiles(
  database: Database,
  folder: string | null,
  texts: readonly string[],
): Promise<RawSearchResult | null> {
  if (database.dialect !== 'sqlite') return null;
  const file = (await database.read((sql) => sql.get(MAIN_FILE)))?.file ?? '';
  if (file === '') return null;
  // The database stores this text escaped, as in JSON.
  const left = new Set(texts.map((text) => Buffer.from(encodeJson(text).slice(1, -1))));
  const overlap = Math.max(0, ...[...left].map(({ length }) => length));
  const beside = folder === null ? [] : await readdir(folder).catch(() => []);
  let budget = MAX_READ_BYTES;
  for (const name of [file, `${file}-wal`, ...beside.map((one) => join(folder ?? '', one))]) {
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

async function sumForgottenCounts(
  found: Record<Exclude<keyof ForgottenCounts, 'prompts' | 'copies'>, number>,
  database: Database,
  conversation: string,
  without: Redact,
): Promise<void> {
  const counted = await database.write(async (sql) => {
    const counts: (readonly [keyof typeof found, number])[] = [];
    for (const table of FORGOTTEN_TABLES) {
      const rows = { where: table.of, values: { conversation } };
      counts.push([table.counts, await rewriteRows(sql, table, rows, without)]);
    }
    return counts;
  });
  for (const [what, rows] of counted) found[what] += rows;
}

/** Questions about a conversation's calls are also shown in other chats. */
async function forgetInParts(
  database: Database,
  conversations: readonly string[],
  without: Redact,
): Promise<number> {
  const turns = await listTurns(database, conversations);
  const parts = await listPartsWithText(database, { turns, seqs: [], people: [] });
  const rows = {
    where: 'id in (select value from json_each(:parts))',
    values: { parts: encodeJson(parts) },
  };
  return database.write((sql) => rewriteRows(sql, getForgottenTable('outbox'), rows, without));
}

/**
 * The whole index is emptied, because deleted entries would leave their words in it for some time.
 */
async function emptySearchEntries(database: Database): Promise<void> {
  const { emptySearchIndex } = await import('../conversation-views/search-index.ts');
  await emptySearchIndex(database);
}

async function emptyWriteAheadLog({ dialect, read }: Database): Promise<void> {
  if (dialect === 'sqlite') await read((sql) => sql.all(EMPTY_LOG));
}

const EMPTY_LOG = defineStatement('pragma wal_checkpoint(truncate)');

const OF_OWNERS = defineStatement(`
  select distinct conversation_id as lane from inbox where from_owner = 1`).rows<LaneRow>();

// Sub-agents work in separate conversations.
const SUB_AGENT_LANES = defineStatement(`
  select conversation_id as lane from sub_agent
  where root_conversation in (select value from json_each(:own))`).rows<LaneRow>();

interface LaneRow {
  readonly lane: string;
}

async function listConversationsToForget(
  database: Database,
  { conversations, ownersToo }: ForgetRequest,
  agent: string | undefined,
): Promise<readonly string[]> {
  return database.read(async (sql) => {
    const owners = ownersToo ? await sql.all(OF_OWNERS) : [];
    const theirs = owners
      .map(({ lane }) => lane)
      .filter((lane) => getConversationAgent(lane) === agent);
    const own = [...conversations, ...theirs];
    const subAgents = await sql.all(SUB_AGENT_LANES, { own: encodeJson(own) });
    return [...new Set([...own, ...subAgents.map(({ lane }) => lane)])];
  });
}
