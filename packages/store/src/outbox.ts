import type { NewId } from '@parley/core';
import { readChatStateBeforePart } from './before-part.ts';
import type { ChatKey } from './conversations.ts';
import { OF_CHAT } from './conversations.ts';
import { type Database, defineStatement, type Sql, StoreError } from './database.ts';
import { recordDeadPart } from './dead-letters.ts';
import { buildDueCondition } from './due.ts';
import type { StoredFiles } from './files/stored-files.ts';
import { type HistoryState, selectHistoryState } from './history-state.ts';
import {
  type AccountWork,
  type DuePart,
  insertParts,
  type MentionedIds,
  OUTBOX_COLUMNS,
  type OutboxEntry,
  type PartRow,
  type PartState,
  type PostRequest,
  type PostResult,
  postParts,
  readPart,
} from './outbox-parts.ts';
import { type AgentAnswer, type AnsweredChat, listAgentAnswers } from './own-answers.ts';
import { HAS_LEASE, type NamedLease } from './processes.ts';
import type { NewPart } from './rows.ts';

/**
 * The durable handover between turn and delivery, stored in the `outbox` table. Commits insert
 * outbox rows; delivery advances their state.
 */
export type OutboxRepository = ReturnType<typeof createOutboxWithLease>;

export function createOutboxRepository(database: Database, newId: NewId, files: StoredFiles) {
  return {
    ...createOutboxWithLease({ database, newId, files }, null),
    /**
     * Creates the outbox for a process that sends under this lease. Once the lease is lost, parts
     * can no longer be marked as sending (StoreError `store-fenced`), and outcomes are no longer
     * recorded for a part that the new lease holder took over.
     */
    under: (held: NamedLease) => createOutboxWithLease({ database, newId, files }, held),
  };
}

interface OutboxDeps {
  readonly database: Database;
  readonly newId: NewId;
  readonly files: StoredFiles;
}

function createOutboxWithLease({ database, newId, files }: OutboxDeps, lease: NamedLease | null) {
  return {
    ...createDeliveryOperations(database, newId, lease),
    ...createChatOperations(database, newId, files),
  };
}

/** Operations for delivering a part, fenced by the lease if there is one. */
function createDeliveryOperations(database: Database, newId: NewId, lease: NamedLease | null) {
  const epoch = lease?.epoch ?? null;
  const fence = { epoch, lease: lease?.name ?? null };
  return {
    /** Returns a chat's oldest unfinished part; null if all parts have been sent. */
    next: async (chat: ChatKey): Promise<DuePart | null> =>
      (await database.read((sql) => listUnfinishedParts(sql, chat, 1)))[0] ?? null,
    /** Lists a chat's oldest unfinished parts in sending order, due or not. */
    unfinished: (chat: ChatKey, limit: number) =>
      database.read((sql) => listUnfinishedParts(sql, chat, limit)),

    /**
     * Moves a part from pending to sending, durably, before the platform is called. Returns false
     * if the part is no longer pending, or an earlier part for its chat is unfinished.
     */
    markSending: async (partId: string, now: number): Promise<boolean> =>
      (await database.change('power-cut', MARK_SENDING, { partId, now, ...fence })) > 0 ||
      assertLeaseHeld(database, lease),
    /**
     * Claims a part that a crashed process left in `sending`; false if the part is no longer in
     * that state.
     */
    takeOver: async (partId: string): Promise<boolean> =>
      (await database.change('power-cut', TAKE_OVER, { partId, ...fence })) > 0 ||
      assertLeaseHeld(database, lease),

    /**
     * Reads the state of the chat before this part was marked as sending, to find the part on the
     * platform after a crash.
     */
    before: (partId: string) => database.read((sql) => readChatStateBeforePart(sql, partId)),

    // If a power cut undoes the write of a receipt, the part stays in `sending`, which counts as
    // uncertain.
    /**
     * Moves a part from sending to sent, with the platform's id. In the same transaction,
     * `following` is moved from pending to sending. Returns whether `following` was moved.
     */
    markSent: async (
      partId: string,
      messageId: string,
      now: number,
      following?: string,
    ): Promise<boolean> => {
      const params = { partId, messageId, now, epoch };
      if (following !== undefined) {
        return database.write(async (sql) => {
          if ((await sql.run(SENT, params)) === 0) await requirePartState(sql, partId, 'sent');
          return (await sql.run(MARK_SENDING, { partId: following, now, ...fence })) > 0;
        });
      }
      if ((await database.change('process', SENT, params)) === 0)
        await database.read((sql) => requirePartState(sql, partId, 'sent'));
      return false;
    },

    /**
     * Moves a part from sending to pending with a delay of `afterMs`; counts an attempt unless
     * `free`. If the part's text was removed in the meantime, the part fails instead.
     */
    retryLater: async (
      partId: string,
      { now, afterMs }: { readonly now: number; readonly afterMs: number },
      error: string,
      attempt: 'counts' | 'free',
    ): Promise<void> => {
      const notBefore = now + afterMs;
      const line = `${notBefore} ${error.slice(0, 300).replace(/\s+/g, ' ')}\n`;
      const attempts = attempt === 'counts' ? 1 : 0;
      const params = { partId, notBefore, now, error, line, attempts, epoch };
      if ((await database.change('power-cut', RETRY, params)) > 0) return;
      await database.read((sql) => requirePartState(sql, partId, 'pending'));
    },

    /**
     * Moves a part permanently from sending to failed or unknown. A `notice` is appended to the
     * chat's outbox. With scope `answer`, the waiting parts of the same answer fail too, without an
     * attempt to send them.
     */
    markFailed: (
      partId: string,
      state: 'failed' | 'unknown',
      error: string,
      now: number,
      notice: NewPart | null,
      scope: 'part' | 'answer' = 'part',
    ): Promise<void> =>
      database.write(async (sql) => {
        if ((await sql.run(FAIL, { partId, state, error, now, epoch })) === 0) {
          return await requirePartState(sql, partId, state);
        }
        recordDeadPart(sql, partId, state, now);
        const rest = scope === 'answer' ? await sql.all(FAIL_REST, { partId, error, now }) : [];
        for (const { id } of rest) recordDeadPart(sql, id, 'failed', now);
        if (notice !== null)
          insertParts(sql, [notice], { turnId: null, noticeOf: partId, now, newId });
      }),
  };
}

/** Operations on whole chats and accounts, available to any process. */
function createChatOperations(database: Database, newId: NewId, files: StoredFiles) {
  return {
    /**
     * Adds parts that no turn wrote, such as notices; `about` lists the people whose text or names
     * they contain.
     */
    enqueue: (parts: readonly NewPart[], now: number, about: MentionedIds = []): Promise<void> =>
      database.write(
        async (sql) => void insertParts(sql, parts, { turnId: null, about, now, newId }),
      ),
    /** Adds parts for a chat that no turn is answering, once per key (D04, G16). */
    post: ({ parts, ...post }: PostRequest, now: number): Promise<PostResult> =>
      files.withParts(parts, (stored) =>
        database.write((sql) => postParts(sql, post, stored, now)),
      ),
    /**
     * Lists an account's chats with unfinished parts due at `now`, for the sweep and for startup.
     */
    chatsWithWork: (
      channel: string,
      account: string,
      now: number,
      limit: number,
    ): Promise<readonly ChatKey[]> =>
      database.read((sql) => sql.all(CHATS_WITH_WORK, { channel, account, now, limit })),
    /**
     * Lists the accounts with parts to send or files to fetch, due at `now`, in one query for all
     * accounts of a gateway.
     */
    accountsWithWork: (now: number): Promise<readonly AccountWork[]> =>
      database.read((sql) => sql.all(ACCOUNTS_WITH_WORK, { now })),
    /** The number of rows per state, for `parley status` and metrics. */
    counts: async (): Promise<Readonly<Record<PartState, number>>> => {
      const counts = { pending: 0, sending: 0, sent: 0, unknown: 0, failed: 0 };
      const rows = await database.read((sql) => sql.all(COUNTS));
      for (const { state, count } of rows) counts[state] = count;
      return counts;
    },
    /** Lists the agent's newest `limit` messages in one chat of a conversation, newest first. */
    ownAnswers: (chat: AnsweredChat, limit: number): Promise<readonly AgentAnswer[]> =>
      database.read((sql) => listAgentAnswers(sql, chat, limit)),
    /** Lists the newest `limit` parts sent to a chat, oldest first, for the web history. */
    recent: async (chat: ChatKey, limit: number): Promise<readonly OutboxEntry[]> => {
      const rows = await database.read((sql) => sql.all(RECENT, { ...chat, limit }));
      return rows.reverse().map((row) => ({
        part: readPart(row),
        state: row.state,
        createdAt: row.createdAt,
        error: row.error,
        ...(row.answers !== null && { answers: row.answers }),
        ...(row.replaced ? { isReplaced: true } : {}),
        ...(row.history === 'rewound' ? { isRewound: true } : {}),
      }));
    },
  };
}

// States are literals, because a partial index is used only if the query contains the index
// condition.
const UNFINISHED = "state in ('pending', 'sending')";

/**
 * Finds a chat's first unfinished parts, due or not, because no part may overtake them. Without the
 * hint, SQLite uses another index on the same columns and scans every part in the chat.
 */
const FIRST = defineStatement(`
  select ${OUTBOX_COLUMNS}, state, attempts, not_before as "notBefore",
    updated_at as "waitsSince", sending_at as "sendingAt", tried_at as "triedAt",
    created_at as "createdAt", trace, exists (select 1 from outbox later
      where later.turn_id = outbox.turn_id and later.part_index > outbox.part_index) as goes_on
  from outbox /*sqlite indexed by outbox_unfinished */where ${OF_CHAT} and ${UNFINISHED}
  order by seq limit :limit`).rows<
  PartRow &
    Omit<DuePart, 'part' | 'trace'> & {
      readonly trace: string | null;
      readonly goes_on: number | boolean;
    }
>();

async function listUnfinishedParts(sql: Sql, chat: ChatKey, limit: number): Promise<DuePart[]> {
  const rows = await sql.all(FIRST, { ...chat, limit });
  return rows.map((row) => {
    const { state, attempts, notBefore, waitsSince, sendingAt, triedAt, createdAt, trace } = row;
    return {
      part: { ...readPart(row), isLast: !row.goes_on },
      ...{ state, attempts, notBefore, waitsSince, sendingAt, triedAt, createdAt },
      ...(trace === null ? {} : { trace }),
    };
  });
}

// Marks only the first part for its chat, because a process that received the part from its own
// commit does not know about earlier parts.
const MARK_SENDING = defineStatement(`
  update outbox set state = 'sending', sender = :epoch, updated_at = :now,
    tried_at = coalesce(tried_at, :now), sending_at = :now
  where id = :partId and state = 'pending' and ${HAS_LEASE}
    and not exists (select 1 from outbox earlier
      where earlier.channel = outbox.channel and earlier.account = outbox.account
        and earlier.chat_id = outbox.chat_id and earlier.state in ('pending', 'sending')
        and earlier.seq < outbox.seq)`);

/**
 * Assigns a part left in `sending` to this lease, so that the former holder can no longer record
 * its outcome.
 */
const TAKE_OVER = defineStatement(`
  update outbox set sender = :epoch where id = :partId and state = 'sending' and ${HAS_LEASE}`);

const HOLDER = defineStatement(
  'select owner from lease where name = :name and epoch = :epoch and owner is not null',
).rows<{ readonly owner: string }>();

/**
 * Returns false if no row was changed although the lease is held; otherwise throws StoreError
 * `store-fenced`.
 */
async function assertLeaseHeld(database: Database, lease: NamedLease | null): Promise<false> {
  if (lease === null) return false;
  const { name, epoch } = lease;
  if ((await database.read((sql) => sql.get(HOLDER, { name, epoch }))) !== undefined) return false;
  throw new StoreError(
    'store-fenced',
    `${name} is now held by another process, which sends the remaining parts.`,
  );
}

const WHILE_MINE = `where id = :partId and state = 'sending' and (sender = :epoch or :epoch is null)`;

const SENT = defineStatement(`
  update outbox set state = 'sent', platform_message_id = :messageId, error = null,
    updated_at = :now, sent_at = :now ${WHILE_MINE}`);

/** Stores at most about 4,000 characters of reasons, enough to explain a long outage. */
const RETRY = defineStatement(`
  update outbox set state = case when changed = 'deleted' then 'failed' else 'pending' end,
    not_before = :notBefore, updated_at = :now, error = :error,
    attempts = attempts + :attempts,
    retries = case when length(retries) > 4000 then retries else coalesce(retries, '') || :line end
  ${WHILE_MINE}`);

const FAIL = defineStatement(`
  update outbox set state = :state, error = :error, updated_at = :now ${WHILE_MINE}`);

const FAIL_REST = defineStatement(`
  update outbox set state = 'failed', error = :error, updated_at = :now
  where state = 'pending' and turn_id = (select turn_id from outbox where id = :partId)
    and chat_id = (select chat_id from outbox where id = :partId)
  returning id`).rows<{ readonly id: string }>();

const STATE = defineStatement('select state from outbox where id = :partId').rows<{
  readonly state: PartState;
}>();

/**
 * The part may already be in the requested state, because the reply to an earlier call was lost.
 * Throws StoreError `store-part-state` if the part is in another state or was taken over under a
 * later lease.
 */
async function requirePartState(sql: Sql, partId: string, state: PartState): Promise<void> {
  const row = await sql.get(STATE, { partId });
  if (row?.state === state) return;
  throw new StoreError(
    'store-part-state',
    `Part ${partId} cannot become ${state}: it is ${row?.state ?? 'unknown to the outbox'}, ` +
      'not being sent. Only the gateway that marked it as sending may report its outcome.',
  );
}

/** Selects a chat's newest parts, except those from before its conversation was deleted. */
const NEWEST_CONVERSATION =
  `(select conversation_id from inbox where ${OF_CHAT} order by seq desc limit 1)` as const;

const RECENT = defineStatement(`
  select ${OUTBOX_COLUMNS}, state, created_at as "createdAt", error, answers, exists (select 1 from inbox
    where inbox.turn_id = outbox.turn_id and inbox.turn_id is not null
      and inbox.outcome = 'replaced') as replaced,
    ${selectHistoryState('outbox.turn_id', NEWEST_CONVERSATION)} as history
  from outbox where ${OF_CHAT} and seq > coalesce((select deleted_part from conversation
    where id = ${NEWEST_CONVERSATION}), 0)
  order by seq desc limit :limit`).rows<
  PartRow &
    Omit<OutboxEntry, 'part' | 'answers' | 'isReplaced' | 'isRewound'> & {
      readonly history: HistoryState;
      readonly answers: number | null;
      readonly replaced: number | boolean;
    }
>();

/**
 * Selects chats whose first unfinished part is due. Only the first part counts, because no later
 * part overtakes it. Chats with the oldest parts come first, so that the limit cannot hide a chat
 * forever.
 */
const CHATS_WITH_WORK = defineStatement(`
  select part.channel, part.account, part.chat_id as "chatId" from outbox part
  where part.channel = :channel and part.account = :account and part.${UNFINISHED}
    and ${buildDueCondition('part')} and not exists (select 1 from outbox earlier
      where earlier.channel = part.channel and earlier.account = part.account
        and earlier.chat_id = part.chat_id and earlier.${UNFINISHED} and earlier.seq < part.seq)
  order by part.seq limit :limit`).rows<ChatKey>();

const ACCOUNTS_WITH_WORK = defineStatement(`
  select 'parts' as kind, channel, account from outbox
  where ${UNFINISHED} and ${buildDueCondition('outbox')} group by channel, account
  union all select 'files', channel, account from attachment
  where state = 'pending' and ${buildDueCondition('attachment')} group by channel, account`).rows<AccountWork>();

const COUNTS = defineStatement('select state, count(*) as count from outbox group by state').rows<{
  readonly state: PartState;
  readonly count: number;
}>();
