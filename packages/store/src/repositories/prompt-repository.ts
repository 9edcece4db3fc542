import type { SelectQueryBuilder } from 'kysely';
import type { Database, Sql } from '../database.ts';
import { fromJson } from '../json-column.ts';
import { raw } from '../kysely.ts';
import type { NewPrompt, PromptRepository, PromptSearch } from '../prompts.ts';
import { StoreError } from '../store-error.ts';
import type { Tables } from '../tables.ts';
import { knownHashes } from './known-hashes.ts';
import {
  type HashedText,
  hashesOf,
  promptOf,
  rowOf,
  SUMMARY,
  summaryOf,
  textHashes,
} from './prompt-row.ts';

/** A prompt as it is written. */
interface PreparedPrompt {
  readonly at: number;
  readonly texts: readonly HashedText[];
  readonly fresh: readonly HashedText[];
  readonly row: ReturnType<typeof rowOf>;
}

/** Keeps prompts within transactions of others. */
export interface PromptWriter {
  prepare(prompt: NewPrompt): PreparedPrompt;
  write(sql: Sql, prompt: PreparedPrompt): Promise<void>;
  /** To be called once the transaction is committed. */
  written(prompt: PreparedPrompt): void;
}

/** Prompts on SQL. */
export function promptRepository(
  database: Database,
): PromptRepository & PromptWriter & { textsChanged(): void } {
  const known = knownHashes();
  const hashOf = textHashes();
  const writer: PromptWriter = {
    prepare(prompt) {
      const hashes = prompt.parts.map(({ text }) => hashOf(text));
      const texts = distinct(hashes);
      const fresh = texts.filter(({ hash }) => !known.has(hash, prompt.at));
      return { at: prompt.at, texts, fresh, row: rowOf(prompt, hashes, hashOf) };
    },
    async write(sql, { at, texts, fresh, row }) {
      const gone = await takenAway(database, sql, texts);
      const lost = texts.filter((text) => gone.has(text.hash) && !fresh.includes(text));
      await keepTexts(sql, [...fresh, ...lost].sort(byHash), at);
      await sql
        .insertInto('turn_prompt')
        .values(row)
        .onConflict((conflict) => conflict.column('turn_id').doUpdateSet(row))
        .execute();
    },
    written({ fresh, at }) {
      known.add(
        fresh.map(({ hash }) => hash),
        at,
      );
    },
  };
  return {
    ...writer,
    async record(prompt) {
      const prepared = writer.prepare(prompt);
      await database.write((sql) => writer.write(sql, prepared), 'process');
      writer.written(prepared);
    },

    ofTurn: (turnId) =>
      database.read(async (sql) => {
        const row = await sql
          .selectFrom('turn_prompt')
          .selectAll()
          .where('turn_id', '=', turnId)
          .executeTakeFirst();
        if (row === undefined) return null;
        const texts = await textsOf(sql, hashesOf(row));
        return promptOf(row, (hash) => texts.get(hash) ?? missing(turnId));
      }),

    list: (search) =>
      database.read(async (sql) => {
        const rows = await matching(sql.selectFrom('turn_prompt').select(SUMMARY), search)
          .orderBy('created_at', 'desc')
          .orderBy('turn_id', 'desc')
          .limit(search.limit)
          .execute();
        return rows.map(summaryOf);
      }),

    // Told by whoever changes texts besides: what was written once may be gone.
    textsChanged() {
      known.clear();
      hashOf.clear();
    },
  };
}

/** In one order for everybody, so that two turns that share texts never wait for each other in a ring. */
function distinct(texts: readonly HashedText[]): HashedText[] {
  const found = new Map(texts.map((text) => [text.hash, text]));
  return [...found.values()].sort(byHash);
}

const byHash = (a: HashedText, b: HashedText): number => (a.hash < b.hash ? -1 : 1);

/**
 * Which of these texts are not in the database, whatever this process remembers: another one may have
 * taken words out of them (P17). SQLite belongs to one process, which is told.
 */
async function takenAway(
  { dialect }: Database,
  sql: Sql,
  texts: readonly HashedText[],
): Promise<ReadonlySet<string>> {
  if (dialect === 'sqlite' || texts.length === 0) return new Set();
  const hashes = texts.map(({ hash }) => hash);
  const rows = await sql
    .selectFrom('prompt_text')
    .select('hash')
    .where('hash', 'in', hashes)
    .execute();
  const there = new Set(rows.map(({ hash }) => hash));
  return new Set(hashes.filter((hash) => !there.has(hash)));
}

async function keepTexts(sql: Sql, texts: readonly HashedText[], now: number): Promise<void> {
  if (texts.length === 0) return;
  await sql
    .insertInto('prompt_text')
    .values(texts.map((text) => ({ ...text, used_at: now })))
    .onConflict((conflict) => conflict.column('hash').doUpdateSet({ used_at: now }))
    .execute();
}

async function textsOf(sql: Sql, hashes: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (hashes.length === 0) return new Map();
  const rows = await sql
    .selectFrom('prompt_text')
    .select(['hash', 'content'])
    .where('hash', 'in', hashes)
    .execute();
  return new Map(rows.map(({ hash, content }) => [hash, String(fromJson(content))]));
}

function matching<Row>(
  query: SelectQueryBuilder<Tables, 'turn_prompt', Row>,
  { chat, messageId, before }: PromptSearch,
): SelectQueryBuilder<Tables, 'turn_prompt', Row> {
  let found = query;
  if (chat !== undefined) {
    found = found.where((eb) =>
      eb.or([eb('conversation_id', '=', chat), eb('chat_id', '=', chat)]),
    );
  }
  if (messageId !== undefined) {
    const quoted = JSON.stringify(messageId).replaceAll(/[!%_]/g, '!$&');
    found = found.where(raw<boolean>`message_ids like ${`%${quoted}%`} escape '!'`);
  }
  if (before !== undefined) {
    const { at, turnId } = before;
    found = found.where((eb) =>
      eb.or([
        eb('created_at', '<', at),
        eb.and([eb('created_at', '=', at), eb('turn_id', '<', turnId)]),
      ]),
    );
  }
  return found;
}

function missing(turnId: string): never {
  throw new StoreError(
    'store-damaged',
    `A text of the prompt of turn ${turnId} is gone. Only this record is affected: answers never depend on it.`,
  );
}
