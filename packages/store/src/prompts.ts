import { readHiddenStepParts } from './asides.ts';
import {
  type Database,
  decodeJson,
  defineStatement,
  encodeJson,
  type Sql,
  StoreError,
  selectJsonItem,
} from './database.ts';
import { createKnownHashes } from './known-hashes.ts';
import type { NewPrompt, PromptSummary, StoredPrompt } from './prompt-rows.ts';
import {
  createPartsSerializer,
  createTextHasher,
  type HashedText,
  listHashes,
  type PromptRow,
  SUMMARY_COLUMNS,
  type SummaryRow,
  toPromptRow,
  toPromptSummary,
  toStoredPrompt,
} from './prompt-rows.ts';

/** Conditions that a prompt must satisfy to be listed. */
export interface PromptFilter {
  /** A conversation id, or the platform's chat id. */
  readonly chat?: string | undefined;
  /** The platform id of a message that the turn answered. */
  readonly messageId?: string | undefined;
  /** The last prompt on the previous page; the next page continues with older ones. */
  readonly before?: { readonly at: number; readonly turnId: string } | undefined;
  readonly limit: number;
}

interface PreparedPrompt {
  readonly at: number;
  readonly texts: readonly HashedText[];
  readonly fresh: readonly HashedText[];
  readonly row: ReturnType<typeof toPromptRow>;
}

/** Writes prompts in other functions' transactions. */
export interface PromptWriter {
  prepare(prompt: NewPrompt): PreparedPrompt;
  write(sql: Sql, prompt: PreparedPrompt): Promise<void>;
  /** To be called once the prompt's transaction is committed. */
  written(prompt: PreparedPrompt): void;
}

/**
 * Prompts recorded in the last few days (P17), stored in the tables `turn_prompt` and
 * `prompt_text`. Turns write these tables; the prompt inspector and `parley prompt` read them.
 */
export type PromptRepository = ReturnType<typeof createPromptRepository>;

export function createPromptRepository(database: Database) {
  const known = createKnownHashes();
  const hashOf = createTextHasher();
  const jsonOf = createPartsSerializer(hashOf);
  const writer: PromptWriter = {
    prepare(prompt) {
      const texts = removeDuplicates(prompt.parts.map(({ text }) => hashOf(text)));
      const fresh = texts.filter(({ hash }) => !known.has(hash, prompt.at));
      return { at: prompt.at, texts, fresh, row: toPromptRow(prompt, hashOf, jsonOf) };
    },
    async write(sql, { at, texts, fresh, row }) {
      const gone = await findMissingTexts(database, sql, texts);
      const lost = texts.filter((text) => gone.has(text.hash) && !fresh.includes(text));
      const kept = [...fresh, ...lost].sort(byHash).map(({ hash, content }) => [hash, content]);
      if (kept.length > 0) sql.send(KEEP_TEXTS, { texts: encodeJson(kept), at });
      sql.send(KEEP, row);
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
    /**
     * Stores a turn's prompt, replacing the prompt of an earlier run; does not write cached text
     * again. A power cut may lose the latest prompts, because nothing depends on them.
     */
    async record(prompt: NewPrompt): Promise<void> {
      const prepared = writer.prepare(prompt);
      await database.write((sql) => writer.write(sql, prepared), 'process');
      writer.written(prepared);
    },

    /** Reads a turn's prompt; null if the turn is unknown or too old. */
    ofTurn: (turnId: string): Promise<StoredPrompt | null> =>
      database.read(async (sql) => {
        const row = await sql.get(OF_TURN, { turnId });
        if (row === undefined) return null;
        const rows = await sql.all(TEXTS, { hashes: encodeJson(listHashes(row)) });
        const texts = new Map(rows.map(({ hash, content }) => [hash, String(decodeJson(content))]));
        const asides = await readHiddenStepParts(sql, turnId);
        return {
          ...toStoredPrompt(row, (hash) => texts.get(hash) ?? throwMissingText(turnId)),
          asides,
        };
      }),

    /** Lists prompts, newest first. */
    async list({
      chat,
      messageId,
      before,
      limit,
    }: PromptFilter): Promise<readonly PromptSummary[]> {
      const { at = Number.MAX_SAFE_INTEGER, turnId = '' } = before ?? {};
      const quoted = JSON.stringify(messageId ?? '').replaceAll(/[!%_]/g, '!$&');
      const message = messageId === undefined ? '%' : `%${quoted}%`;
      const params = { at, turnId, message, limit };
      const rows = await database.read((sql) =>
        chat === undefined ? sql.all(NEWEST, params) : sql.all(NEWEST_OF_CHAT, { ...params, chat }),
      );
      return rows.map(toPromptSummary);
    },

    // Must be called when stored text may have been removed.
    textsChanged() {
      known.clear();
      hashOf.clear();
    },
  };
}

function removeDuplicates(texts: readonly HashedText[]): HashedText[] {
  const found = new Set<string>();
  return texts.filter(({ hash }) => !found.has(hash) && found.add(hash));
}

/**
 * All turns write texts in the same order, so that two turns with the same texts never deadlock.
 */
const byHash = (a: HashedText, b: HashedText): number => (a.hash < b.hash ? -1 : 1);

/**
 * Finds texts that are missing in the database, and ignores this process's cache, because another
 * process may have removed phrases from them (P17). On SQLite there is only one process, which is
 * notified of such changes.
 */
async function findMissingTexts(
  { dialect }: Database,
  sql: Sql,
  texts: readonly HashedText[],
): Promise<ReadonlySet<string>> {
  if (dialect === 'sqlite' || texts.length === 0) return new Set();
  const hashes = texts.map(({ hash }) => hash);
  const rows = await sql.all(THERE, { hashes: encodeJson(hashes) });
  const there = new Set(rows.map(({ hash }) => hash));
  return new Set(hashes.filter((hash) => !there.has(hash)));
}

const THERE = defineStatement(`
  select hash from prompt_text where hash in (select value from json_each(:hashes))`).rows<{
  readonly hash: string;
}>();

const KEEP_TEXTS = defineStatement(`
  insert into prompt_text (hash, content, used_at)
  select ${selectJsonItem(0)}, ${selectJsonItem(1)}, cast(:at as bigint) from json_each(:texts) where true
  on conflict (hash) do update set used_at = excluded.used_at`);

const KEEP = defineStatement(`
  insert into turn_prompt (turn_id, conversation_id, chat_id, created_at, layout, model, characters,
    tokens, place, message_ids, parts, unsent, tools, messages)
  values (:turnId, :conversationId, :chatId, :at, :layout, :model, :characters,
    :tokens, :place, :messageIds, :parts, :unsent, :tools, :messages)
  on conflict (turn_id) do update set conversation_id = excluded.conversation_id,
    chat_id = excluded.chat_id, created_at = excluded.created_at, layout = excluded.layout,
    model = excluded.model, characters = excluded.characters, tokens = excluded.tokens,
    place = excluded.place, message_ids = excluded.message_ids, parts = excluded.parts,
    unsent = excluded.unsent, tools = excluded.tools, messages = excluded.messages`);

const OF_TURN = defineStatement(`
  select ${SUMMARY_COLUMNS}, parts, unsent, tools, messages from turn_prompt
  where turn_id = :turnId`).rows<PromptRow>();

const MATCHING = `message_ids like :message escape '!' and created_at <= :at
  and (created_at < :at or turn_id < :turnId)
  order by created_at desc, turn_id desc limit :limit`;

const NEWEST = defineStatement(
  `select ${SUMMARY_COLUMNS} from turn_prompt where ${MATCHING}`,
).rows<SummaryRow>();

const NEWEST_OF_CHAT = defineStatement(`
  select ${SUMMARY_COLUMNS} from turn_prompt
  where (conversation_id = :chat or chat_id = :chat) and ${MATCHING}`).rows<SummaryRow>();

const TEXTS = defineStatement(`
  select hash, content from prompt_text where hash in (select value from json_each(:hashes))`).rows<{
  readonly hash: string;
  readonly content: string;
}>();

function throwMissingText(turnId: string): never {
  throw new StoreError(
    'store-damaged',
    `A text in the prompt of turn ${turnId} is missing. Only this record is affected; answers never depend on it.`,
  );
}
