import { hash } from 'node:crypto';
import { type NewId, type OutboundPart, PartExtras, RenderedPart, ReplyRoute } from '@parley/core';
import { INSERT_AGENT_FILE, toAgentFileRow } from './agent-files.ts';
import type { ChatKey } from './conversations.ts';
import { isTurnRunning, lockConversation, OF_CHAT } from './conversations.ts';
import { decodeCheckedJson, defineStatement, encodeJson, type Sql } from './database.ts';
import { storeGroupNotice } from './group-context.ts';
import type { NewPart, PartWithBytes } from './rows.ts';
import { buildTakenOverCondition } from './taken-over.ts';

/**
 * When a process crashes, its `sending` rows become `pending` again or `unknown`, depending on the
 * platform.
 */
export type PartState = 'pending' | 'sending' | 'sent' | 'unknown' | 'failed';

/** The first unfinished part for a chat, and when it may be sent. */
export interface DuePart {
  readonly part: OutboundPart;
  readonly state: 'pending' | 'sending';
  readonly attempts: number;
  readonly notBefore: number;
  /** When the part was stored, or when its delay until `notBefore` began, in ms. */
  readonly waitsSince: number;
  /** When the part was last marked as sending, in ms; null if never. */
  readonly sendingAt: number | null;
  /** When the part was first marked as sending, in ms; null or absent if never. */
  readonly triedAt?: number | null | undefined;
  /** When the part was put into the outbox, in ms. */
  readonly createdAt: number;
  /** The trace to which the part belongs. */
  readonly trace?: string | undefined;
}

/** A part as shown in a chat's history. */
export interface OutboxEntry {
  readonly part: OutboundPart;
  readonly state: PartState;
  readonly createdAt: number;
  readonly error: string | null;
  /** The `seq` of a message that the part answers without a turn, such as a command. */
  readonly answers?: number;
  /** Set if the answered message has been replaced by another one. */
  readonly isReplaced?: true;
  /** Set if a rewind has removed the part from what the model reads (G23). */
  readonly isRewound?: true;
}

/** A message to a chat outside of a turn's answer. */
export interface PostRequest {
  /** A second post with the same key has no effect. */
  readonly key: string;
  /** The parts of the post, which all go to one chat. */
  readonly parts: readonly [PartWithBytes, ...PartWithBytes[]];
  /**
   * The turn that posts, and the maximum number of its posts; it must still be running. Absent if
   * the post does not come from a turn.
   */
  readonly turn?: { readonly id: string; readonly most: number };
  /** The sent answer that the parts edit or delete. */
  readonly changes?: { readonly partId: string; readonly how: PartChange };
}

/** What happened to a message after it was sent. */
export type PartChange = 'edited' | 'deleted';

/**
 * The outcome of a post. `known`: an earlier call with the same key has posted to `chat`. `over`:
 * the turn was stopped, its conversation was restarted, or the message to change no longer exists.
 * `too-many`: the turn has reached its limit of posts. `taken-over`: a person has taken over that
 * chat, so the agent stays silent (U12).
 */
export type PostResult =
  | { readonly kind: 'posted' | 'known'; readonly chat: ChatKey }
  | { readonly kind: 'over' | 'too-many' | 'taken-over' };

/** An account that may have work: parts to send, or files to fetch. */
export interface AccountWork {
  readonly kind: 'parts' | 'files';
  readonly channel: string;
  readonly account: string;
}

/**
 * The origin of parts, which identifies whose text they contain, so that `/forget` finds them
 * (G15). It is one of: the people in the turn that they answer, the sender of the message that they
 * answer (its `seq`), nobody (a notice that only explains why another part was not sent), or the
 * people listed in `about`.
 */
type PartOrigin = StorageContext &
  (
    | { readonly turnId: string }
    | { readonly turnId: null; readonly answers: number; readonly about?: MentionedIds }
    | { readonly turnId: null; readonly noticeOf: string }
    | { readonly turnId: null; readonly about: MentionedIds }
  );

/**
 * Ids of turns and people (`telegram:42`) whose text or names a part contains; empty if there are
 * none.
 */
export type MentionedIds = readonly string[];

interface StorageContext {
  readonly now: number;
  readonly newId: NewId;
  readonly trace?: string | undefined;
}

const INSERT = `
  insert into outbox (id, idempotency_key, turn_id, part_index, notice_of, channel, account, chat_id,
    route, body, state, not_before, created_at, updated_at, answers, trace, about, has_buttons)
  values (:id, :key, :turnId, :index, :noticeOf, :channel, :account, :chatId,
    :route, :body, 'pending', :now, :now, :now, :answers, :trace, :about, :hasButtons)`;

const INSERT_PART = defineStatement(INSERT);

const INSERT_ONCE = defineStatement(`${INSERT} on conflict do nothing`);

/**
 * Appends parts to the outbox in the given order, inside the caller's transaction, and returns them
 * as stored.
 */
export function insertParts(
  sql: Sql,
  parts: readonly NewPart[],
  origin: PartOrigin,
): readonly OutboundPart[] {
  const { turnId } = origin;
  const noticeOf = 'noticeOf' in origin ? origin.noticeOf : undefined;
  const { now, trace } = origin;
  const about = 'about' in origin ? origin.about : undefined;
  const answers = 'answers' in origin ? origin.answers : undefined;
  const by = { turnId, noticeOf, answers, about, now, trace };
  return parts.map(({ stored, notice, ...part }, index) => {
    const row = toPartRow(part, origin.newId('part'), index, by);
    sql.send(INSERT_PART, row);
    if (notice !== undefined) {
      const { channel, account, chatId } = part.route;
      const place = { channel, account, chatId, conversationId: notice.conversationId };
      storeGroupNotice(sql, place, { key: row.id, text: notice.text }, now);
    }
    insertPartFile(sql, { ...part, ...(stored && { stored }) }, row.id, now);
    return {
      ...part,
      id: row.id,
      idempotencyKey: row.key,
      turnId,
      index: row.index,
      isLast: turnId === null || index === parts.length - 1,
      ...(noticeOf === undefined ? {} : { noticeOf }),
    };
  });
}

/**
 * Appends a part that does not belong to an answer, under a given id; false if the id already
 * exists.
 */
async function insertPartOnce(
  sql: Sql,
  id: string,
  part: NewPart,
  by: RowOrigin,
): Promise<boolean> {
  const isNew = (await sql.run(INSERT_ONCE, { ...toPartRow(part, id, 0, by), index: null })) > 0;
  if (isNew) insertPartFile(sql, part, id, by.now);
  return isNew;
}

function insertPartFile(sql: Sql, { file, stored }: NewPart, partId: string, now: number): void {
  if (file === undefined || stored === undefined) return;
  sql.send(INSERT_AGENT_FILE, toAgentFileRow({ id: partId, partId, file, stored, now }));
}

interface RowOrigin extends Omit<StorageContext, 'newId'> {
  readonly turnId: string | null;
  readonly noticeOf?: string | undefined;
  readonly answers?: number | undefined;
  readonly about?: MentionedIds | undefined;
}

/** Builds the row for a part waiting to be sent. */
function toPartRow(
  { route, body, buttons, file, act }: NewPart,
  id: string,
  index: number,
  { turnId, noticeOf, now, answers, about = [], trace }: RowOrigin,
) {
  return {
    id,
    key: toIdempotencyKey(id),
    turnId,
    index: turnId === null ? null : index,
    noticeOf: noticeOf ?? null,
    channel: route.channel,
    account: route.account,
    chatId: route.chatId,
    route: encodeJson(route),
    body: encodeJson({ ...body, buttons, file, act }),
    now,
    answers: answers ?? null,
    trace: trace ?? null,
    about: about.join('\n'),
    hasButtons: buttons === undefined ? 0 : 1,
  };
}

/**
 * Derives a part's idempotency key from its id. The key has 22 characters, because Discord's nonce,
 * the shortest on any platform, allows 25. Collisions among 132 hash bits do not occur in practice.
 */
function toIdempotencyKey(partId: string): string {
  return hash('sha256', partId, 'base64url').slice(0, 22);
}

/** Appends a post's parts to the outbox unless its key was already used. */
export async function postParts(
  sql: Sql,
  { key, turn, changes }: Pick<PostRequest, 'key' | 'turn' | 'changes'>,
  parts: readonly NewPart[],
  now: number,
): Promise<PostResult> {
  if (turn !== undefined) {
    // A stop also locks the conversation, so a turn cannot post after `/stop`.
    const lane = await sql.get(LANE_OF, { turnId: turn.id });
    if (lane !== undefined) await lockConversation(sql, lane.conversation_id);
  }
  const known = await findPostedChat(sql, key);
  if (known !== null) return { kind: 'known', chat: known };
  if (turn !== undefined) {
    if (!(await isTurnRunning(sql, turn.id))) return { kind: 'over' };
    const posted = await sql.get(COUNT_POSTS, { turnId: turn.id, posts: `${PREFIX}%.0` });
    if ((posted?.count ?? 0) >= turn.most) return { kind: 'too-many' };
    if (await isTakenOverByPerson(sql, parts, now)) return { kind: 'taken-over' };
  }
  // The message is marked in the same transaction, so that nobody can press a button on text that
  // is about to change.
  if (changes !== undefined && !(await markMessageChanged(sql, changes))) return { kind: 'over' };
  const [first, ...others] = parts;
  if (first === undefined) throw new TypeError('A post must have at least one part');
  const by = { turnId: turn?.id ?? null, now };
  const { channel, account, chatId } = first.route;
  // Another process may have posted with the same key at the same moment, perhaps to another chat.
  if (!(await insertPartOnce(sql, toPostedPartId(key, 0), first, by))) {
    const chat = await findPostedChat(sql, key);
    return { kind: 'known', chat: chat ?? { channel, account, chatId } };
  }
  for (const [nth, part] of others.entries()) {
    await insertPartOnce(sql, toPostedPartId(key, nth + 1), part, by);
  }
  return { kind: 'posted', chat: { channel, account, chatId } };
}

/** Whether a person has taken over the conversation in the parts' chat. */
async function isTakenOverByPerson(
  sql: Sql,
  parts: readonly NewPart[],
  now: number,
): Promise<boolean> {
  const [first] = parts;
  if (first === undefined) return false;
  const { channel, account, chatId, threadId: thread = '' } = first.route;
  return (await sql.get(LED_THERE, { channel, account, chatId, thread, now })) !== undefined;
}

// Takeovers are rare, and an index covers the conversations that they affect.
const LED_THERE = defineStatement(`
  select conversation.id from conversation
  where taken_over_until is not null and ${buildTakenOverCondition('cast(:now as bigint)', 'conversation')}
    and exists (select 1 from inbox where inbox.conversation_id = conversation.id and ${OF_CHAT}
      and coalesce(/*pg cast(*/inbox.route/*pg  as json)*/ ->> 'threadId', '') = :thread)
  limit 1`).rows<{ readonly id: string }>();

const PREFIX = 'post:';

function toPostedPartId(key: string, nth: number): string {
  return `${PREFIX}${key}.${nth}`;
}

async function findPostedChat(sql: Sql, key: string): Promise<ChatKey | null> {
  return (await sql.get(CHAT_OF, { id: toPostedPartId(key, 0) })) ?? null;
}

/** Returns false if the part is no longer a sent answer. */
async function markMessageChanged(
  sql: Sql,
  changes: NonNullable<PostRequest['changes']>,
): Promise<boolean> {
  return (await sql.run(MARK_CHANGED, changes)) > 0;
}

const MARK_CHANGED = defineStatement(`
  update outbox set changed = :how
  where id = :partId and state = 'sent' and part_index is not null
    and (changed is null or changed <> 'deleted')`);

const LANE_OF = defineStatement('select conversation_id from turn where id = :turnId').rows<{
  readonly conversation_id: string;
}>();

const CHAT_OF = defineStatement(
  'select channel, account, chat_id as "chatId" from outbox where id = :id',
).rows<ChatKey>();

// A post's parts do not have a part index, because only parts of an answer replace streamed text.
// Only the first part of each post is counted.
const COUNT_POSTS = defineStatement(`
  select count(*) as count from outbox
  where turn_id = :turnId and part_index is null and id like :posts`).rows<{
  readonly count: number;
}>();

export const OUTBOX_COLUMNS =
  'outbox.id, idempotency_key, outbox.turn_id, part_index, notice_of, route, body';

export interface PartRow {
  readonly id: string;
  readonly idempotency_key: string;
  readonly turn_id: string | null;
  readonly part_index: number | null;
  readonly notice_of: string | null;
  readonly route: string;
  readonly body: string;
}

/** The content stored in the `body` column. */
const Body = RenderedPart.extend(PartExtras.shape);

/** Converts a stored part to the type that adapters use; throws StoreError `store-damaged`. */
export function readPart(row: PartRow): OutboundPart {
  const { text, plain, ...extras } = decodeCheckedJson(
    Body,
    row.body,
    `the text of part ${row.id}`,
  );
  return {
    id: row.id,
    idempotencyKey: row.idempotency_key,
    // A turn's posts to other chats are not part of its answer.
    turnId: row.part_index === null ? null : row.turn_id,
    index: row.part_index,
    ...(row.notice_of === null ? {} : { noticeOf: row.notice_of }),
    route: decodeCheckedJson(ReplyRoute, row.route, `the route of part ${row.id}`),
    body: { text, plain },
    ...extras,
  };
}

/** A part's delay: when it ends, in ms, and why. */
export interface PartRetry {
  readonly until: number;
  readonly reason: string;
}

/** Parses a part's delays with their reasons. */
export function readRetries(retries: string | null): readonly PartRetry[] {
  return (retries ?? '').split('\n').flatMap((line) => {
    const [, until, reason] = /^(\d+) (.*)$/.exec(line) ?? [];
    return until === undefined ? [] : [{ until: Number(until), reason: reason ?? '' }];
  });
}
