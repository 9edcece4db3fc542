import type { InboundMessage, NewId } from '@parley/core';
import {
  ensureConversation,
  lockConversation,
  lockUndeletedConversation,
} from './conversations.ts';
import { type Database, decodeJson, defineStatement, encodeJson, type Sql } from './database.ts';
import { insertParts } from './outbox-parts.ts';
import { findRewindCut, type RewindPoint } from './rewind.ts';
import {
  type ConversationMode,
  INSERT_MESSAGE,
  type NewPart,
  type TranscriptEntry,
  toInboxRow,
} from './rows.ts';
import type { StoredSummary } from './sessions.ts';
import { appendHistory } from './turns.ts';

/** The history of one turn. */
export interface BranchedTurn {
  readonly at: number;
  readonly entries: readonly TranscriptEntry[];
}

/** The history of a conversation's current session, up to a point. */
export interface BranchSource {
  readonly mode: ConversationMode;
  readonly model: string | null;
  /** Whether only owners have written in the conversation, in direct chats. */
  readonly isOwners: boolean;
  /** The owners' summary that ends before the point, and how many of these turns it covers. */
  readonly summary: (StoredSummary & { readonly covers: number }) | null;
  /** Oldest first. */
  readonly turns: readonly BranchedTurn[];
  /** Whether older turns were left out. */
  readonly isCut: boolean;
}

/** A copied turn with what is shown of it. */
export interface NewBranchTurn extends BranchedTurn {
  /** Null for a turn without a question, such as an alert. */
  readonly question: InboundMessage | null;
  readonly parts: readonly NewPart[];
}

/** A conversation that begins with the copied history of another one (G23). */
export interface NewBranch extends Pick<BranchSource, 'mode' | 'model' | 'summary'> {
  readonly conversationId: string;
  readonly route: NewPart['route'];
  /** The person who opened the branch. */
  readonly by: string;
  readonly turns: readonly NewBranchTurn[];
  /** Shown at the end of the copied history. */
  readonly notice: readonly NewPart[];
}

/**
 * The reason stored with a copied message. Copies do not count as written by an owner, so that they
 * do not decide where owners can be reached, but an owner's `/forget` finds them.
 */
export const COPIED = 'copied from another conversation';

/** The maximum number of entries in a branch. */
const MAX_ENTRIES = 400;

/**
 * Second conversations with a copy of another one's history (G23). A copy has rows of its own, so
 * `/forget`, rewinds and deletions in one conversation do not change the other.
 */
export function createBranchRepository(database: Database, newId: NewId) {
  return {
    /**
     * Reads what a branch would copy; with null, the whole session. `unknown`: the point is not in
     * the session. Null if the conversation does not exist.
     */
    source: (id: string, point: RewindPoint | null): Promise<BranchSource | 'unknown' | null> =>
      database.write((sql) => readSource(sql, id, point), 'process'),
    /** Stores a branch; false if it exists already. */
    create: (branch: NewBranch, now: number): Promise<boolean> =>
      database.write((sql) => createBranch(sql, branch, { now, newId })),
  };
}

async function readSource(
  sql: Sql,
  id: string,
  point: RewindPoint | null,
): Promise<BranchSource | 'unknown' | null> {
  const lane = await lockUndeletedConversation(sql, id);
  if (lane === undefined) return null;
  const { session, mode, model } = lane;
  const cut = point === null ? null : await findRewindCut(sql, { id, session }, point);
  if (cut === 'unknown') return cut;
  const end = cut?.entry ?? Number.MAX_SAFE_INTEGER;
  const rows = await sql.all(ENTRIES, { id, session, end, limit: MAX_ENTRIES });
  const turns = new Map<string, BranchedTurn & { readonly first: number }>();
  for (const { turn, seq, role, content, at } of rows.reverse()) {
    const known = turns.get(turn);
    const entry = { role, content: decodeJson(content) };
    const entries = [...(known?.entries ?? []), entry];
    turns.set(turn, { at: known?.at ?? at, first: known?.first ?? seq, entries });
  }
  const summary = await sql.get(SUMMARY, { id, session, end });
  const all = [...turns.values()];
  return {
    ...{ mode, model, turns: all, isCut: rows.length === MAX_ENTRIES },
    isOwners: (await sql.get(NEWEST_SENDER, { id, trigger: TRIGGER }))?.isOwner === 1,
    summary:
      summary === undefined
        ? null
        : {
            content: decodeJson(summary.content),
            reaches: summary.reaches,
            covers: all.filter(({ first }) => first <= summary.reaches).length,
          },
  };
}

async function createBranch(
  sql: Sql,
  branch: NewBranch,
  { now, newId }: { readonly now: number; readonly newId: NewId },
): Promise<boolean> {
  const { conversationId, mode, model, summary, route } = branch;
  if ((await lockConversation(sql, conversationId)) !== undefined) return false;
  ensureConversation(sql, conversationId, now);
  sql.send(SET_UP, { conversationId, mode, model });
  for (const turn of branch.turns) copyTurn(sql, branch, turn, newId);
  if (summary !== null) {
    // A summary that covers only turns that were left out still precedes all entries.
    const place = { conversationId, covers: summary.covers };
    const reaches = (await sql.get(REACHES, place))?.reaches ?? 0;
    sql.send(ADD_SUMMARY, { conversationId, reaches, content: encodeJson(summary.content), now });
  }
  const { channel, account, chatId } = route;
  insertParts(sql, branch.notice, { turnId: null, about: [], now, newId });
  sql.send(MARK_SENT, { channel, account, chatId });
  return true;
}

/** Copies a turn with its original time, so that retention removes it like the original. */
function copyTurn(
  sql: Sql,
  { conversationId, by, route }: NewBranch,
  { at, entries, question, parts }: NewBranchTurn,
  newId: NewId,
): void {
  const turnId = newId('turn');
  sql.send(ADD_TURN, { turnId, conversationId, at, by });
  if (question !== null) {
    const row = toInboxRow({ conversationId, message: question, route, receivedAt: at }, 'done');
    const { channel, account, chatId, messageId } = row;
    sql.send(ADD_MESSAGE, { ...row, outcome: 'answered', reason: COPIED });
    sql.send(CLAIM, { turnId, channel, account, chatId, messageId });
  }
  appendHistory(sql, entries, { conversationId, session: 0, turnId, now: at });
  insertParts(sql, parts, { turnId, now: at, newId });
}

const ENTRIES = defineStatement(`
  select seq, turn_id as turn, role, content, created_at as at from transcript
  where conversation_id = :id and session = :session and seq < :end
  order by seq desc limit :limit`).rows<{
  readonly seq: number;
  readonly turn: string;
  readonly role: TranscriptEntry['role'];
  readonly content: string;
  readonly at: number;
}>();

const SUMMARY = defineStatement(`
  select content, last_seq as reaches from summary
  where conversation_id = :id and session = :session and reader = 'owner' and kind = 'history'
    and content is not null and last_seq < :end
  order by last_seq desc limit 1`).rows<{ readonly content: string; readonly reaches: number }>();

/** Messages from Parley itself have a trigger; inside a JSON string, its quotes are escaped. */
const TRIGGER = '%,"trigger":"%';

// A direct chat has one person.
const NEWEST_SENDER = defineStatement(`
  select case when from_owner = 1 or reason = '${COPIED}' then 1 else 0 end as "isOwner" from inbox
  where conversation_id = :id and message not like :trigger order by seq desc limit 1`).rows<{
  readonly isOwner: number;
}>();

const SET_UP = defineStatement(
  'update conversation set mode = :mode, model = :model where id = :conversationId',
);

const ADD_TURN = defineStatement(`
  insert into turn (id, conversation_id, session, state, attempts, started_at, finished_at, written_by)
  values (:turnId, :conversationId, 0, 'answered', 1, :at, :at, :by)`);

const ADD_MESSAGE = defineStatement(INSERT_MESSAGE);

const CLAIM = defineStatement(`
  update inbox set turn_id = :turnId, claimed_at = received_at
  where channel = :channel and account = :account and chat_id = :chatId and message_id = :messageId`);

const REACHES = defineStatement(`
  select coalesce(max(seq), (select min(seq) - 1 from transcript
    where conversation_id = :conversationId)) as reaches
  from transcript where conversation_id = :conversationId and turn_id in (select turn_id from (
    select turn_id, min(seq) as first from transcript where conversation_id = :conversationId
    group by turn_id order by first limit :covers) as covered)`).rows<{
  readonly reaches: number | null;
}>();

const ADD_SUMMARY = defineStatement(`
  insert into summary (conversation_id, session, reader, kind, mark, last_seq, content,
    claimed_until, created_at)
  values (:conversationId, 0, 'owner', 'history', '0', :reaches, :content, 0, :now)`);

/** The page reads its history from the rows, so nothing has to be delivered. */
const MARK_SENT = defineStatement(`
  update outbox set state = 'sent', platform_message_id = id, sent_at = created_at
  where state in ('pending', 'sending') and channel = :channel and account = :account
    and chat_id = :chatId and state = 'pending'`);
