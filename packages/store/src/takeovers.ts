import { type NewId, ReplyRoute } from '@parley/core';
import { lockConversation } from './conversations.ts';
import { type Database, decodeCheckedJson, defineStatement, type Sql } from './database.ts';
import { IS_NOT_DELETED } from './inbox-reads.ts';
import { type PersonReply, replyAsPerson } from './person-replies.ts';
import { type SharedClock, STATEMENT_NOW } from './shared-clock.ts';
import {
  isTakenOver,
  MAX_TAKEOVER_MS,
  readConversationHold,
  readSharedTime,
} from './taken-over.ts';

/** A takeover of a conversation; times are in ms on the shared clock. */
export interface Takeover {
  readonly seq: number;
  readonly conversationId: string;
  /** The name of the person's sign-in. */
  readonly by: string;
  readonly at: number;
  readonly until: number;
  /** Null while the takeover lasts. */
  readonly endedAt: number | null;
  /**
   * The person who handed the conversation back or took it over next; null if the takeover still
   * lasts or expired.
   */
  readonly endedBy: string | null;
}

/** The person who takes over a conversation, and for how long (ms). */
export interface TakeoverRequest {
  readonly conversationId: string;
  readonly by: string;
  readonly lastsMs: number;
}

/**
 * Conversations that a person has taken over from the agent (U12). The `taken_over_until` column
 * decides whether a turn may be claimed; the `takeover` table records who took over. The page and
 * the command line write to both.
 */
export function createTakeoverRepository(
  database: Database,
  newId: NewId,
  sharedClock: SharedClock,
) {
  return {
    /**
     * Takes over a conversation, or extends a takeover. The running turn is fenced and stays
     * unfinished; answer parts whose delivery has not started are not sent. Returns null if the
     * conversation does not exist or is being deleted.
     */
    takeOver: (order: TakeoverRequest): Promise<{ readonly until: number } | null> =>
      database.write((sql) => takeOverConversation(sql, order, sharedClock())),

    /**
     * Returns a conversation to the agent. Returns false if the conversation is not taken over, and
     * null if it does not exist.
     */
    handBack: (conversationId: string, by: string): Promise<boolean | null> =>
      database.write((sql) => returnConversationToAgent(sql, conversationId, by, sharedClock())),

    /**
     * Stores what a person writes in a chat, once per request. Returns null if the conversation
     * does not exist or is being deleted.
     */
    reply: (reply: PersonReply) =>
      database.write((sql) => replyAsPerson(sql, reply, { newId, moment: sharedClock() })),

    /** Finds the route of a person's newest message in a conversation; null if none is stored. */
    newestRoute: (conversationId: string): Promise<ReplyRoute | null> =>
      database.read((sql) => readNewestRoute(sql, conversationId)),

    /** Lists takeovers and people's replies, each newest first; `before` is in ms. */
    recent: (limit: number, before?: number) =>
      database.read(async (sql) => {
        const now = await readSharedTime(sql, sharedClock());
        const values = { limit, before: before ?? Number.MAX_SAFE_INTEGER };
        const takeovers = await sql.all(RECENT, values);
        return {
          takeovers: takeovers.map((one) => addExpiredEnd(one, now)),
          replies: await sql.all(RECENT_REPLIES, values),
        };
      }),
  };
}

async function takeOverConversation(
  sql: Sql,
  { conversationId: id, by, lastsMs }: TakeoverRequest,
  moment: number | null,
): Promise<{ readonly until: number } | null> {
  if (lastsMs > MAX_TAKEOVER_MS) throw new RangeError(`A takeover of ${lastsMs} ms is too long.`);
  const lane = await lockConversation(sql, id);
  if (lane === undefined || (await readNewestRoute(sql, id)) === null) return null;
  const now = await readSharedTime(sql, moment);
  if ((await readConversationHold(sql, id, lane.taken_over_until, now)) === 'deletion') return null;
  // The turn's worker is alive, so this must not count as a turn that crashed its worker.
  sql.send(UNCOUNT, { id, moment });
  const until = now + lastsMs;
  sql.send(TAKE, { id, until });
  sql.send(WITHHOLD, { id, now, error: WITHHELD });
  sql.send(END_RECORD, { id, now, by });
  sql.send(RECORD, { id, by, now, until });
  return { until };
}

/** Lets the agent answer again, in the caller's transaction. */
export async function returnConversationToAgent(
  sql: Sql,
  id: string,
  by: string,
  moment: number | null,
): Promise<boolean | null> {
  const lane = await lockConversation(sql, id);
  if (lane === undefined) return null;
  const now = await readSharedTime(sql, moment);
  const until = lane.taken_over_until;
  if ((await readConversationHold(sql, id, until, now)) !== 'person') return false;
  sql.send(HAND_BACK, { id });
  sql.send(END_RECORD, { id, now, by });
  // Releases alerts that were held only because of the takeover.
  sql.send(RELEASE_ALERTS, { id, now, until });
  return true;
}

async function readNewestRoute(sql: Sql, id: string): Promise<ReplyRoute | null> {
  const row = await sql.get(NEWEST_ROUTE, { id, trigger: '%,"trigger":"%' });
  if (row === undefined) return null;
  return decodeCheckedJson(ReplyRoute, row.route, `reply route in ${id}`);
}

/** Adds the end of a takeover that expired without being ended by a person. */
export function addExpiredEnd(row: Takeover, now: number): Takeover {
  if (row.endedAt !== null || isTakenOver(row.until, now)) return row;
  return { ...row, endedAt: row.until };
}

/** Why an answer part was not sent, for people and for the agent's next turn. */
const WITHHELD = 'A person took this chat over before it was sent.';

const UNCOUNT = defineStatement(`
  update turn set attempts = attempts - 1
  where conversation_id = :id and state = 'running' and awaits is null and attempts > 0
    and exists (select 1 from conversation
      where conversation.id = :id and lease_owner is not null and lease_until > ${STATEMENT_NOW})`);

/** Once the epoch is raised, the running worker cannot write anything more. */
const TAKE = defineStatement(`
  update conversation set epoch = epoch + 1, lease_owner = null, lease_until = null,
    taken_over_until = :until
  where id = :id`);

// States are literals, because a partial index is used only if the query contains the index
// condition.
const WITHHOLD = defineStatement(`
  update outbox set state = 'failed', error = :error, updated_at = :now
  where state in ('pending', 'sending') and state = 'pending' and part_index is not null
    and exists (select 1 from turn where turn.id = outbox.turn_id and turn.conversation_id = :id
      and turn.written_by is null)`);

const HAND_BACK = defineStatement('update conversation set taken_over_until = null where id = :id');

const RECORD = defineStatement(`
  insert into takeover (conversation_id, taken_by, taken_at, until) values (:id, :by, :now, :until)`);

/** The record of an expired takeover is not changed. */
const END_RECORD = defineStatement(`
  update takeover set ended_at = :now, ended_by = :by
  where conversation_id = :id and ended_at is null and until > :now`);

const RELEASE_ALERTS = defineStatement(`
  update heartbeat_run set held_until = :now
  where state = 'held' and target = :id and held_until = :until`);

// Leaves out messages from triggers, which Parley wrote. Message text cannot imitate the pattern,
// because quotes inside a JSON string are escaped.
const NEWEST_ROUTE = defineStatement(`
  select route from inbox where conversation_id = :id and message not like :trigger
    and ${IS_NOT_DELETED}
  order by seq desc limit 1`).rows<{ readonly route: string }>();

export const TAKEOVER_COLUMNS = `seq, conversation_id as "conversationId", taken_by as by, taken_at as at,
  until, ended_at as "endedAt", ended_by as "endedBy"`;

const RECENT = defineStatement(`
  select ${TAKEOVER_COLUMNS} from takeover where taken_at < :before
  order by taken_at desc, seq desc limit :limit`).rows<Takeover>();

/** A message that a person wrote in a chat from the page. */
export interface PageReply {
  readonly turnId: string;
  readonly conversationId: string;
  readonly by: string;
  readonly as: 'agent' | 'self';
  readonly at: number;
}

const RECENT_REPLIES = defineStatement(`
  select id as "turnId", conversation_id as "conversationId", written_by as by, written_as as "as",
    started_at as at
  from turn where request_key is not null and started_at < :before
  order by started_at desc limit :limit`).rows<PageReply>();
