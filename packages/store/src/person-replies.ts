import type { NewId, OutboundPart } from '@parley/core';
import { withdrawApprovals } from './approvals.ts';
import { isOfPerson } from './claim-turn.ts';
import { lockUndeletedConversation } from './conversations.ts';
import { defineStatement, encodeJson, type Sql } from './database.ts';
import { releaseGroupContext } from './group-context.ts';
import { insertParts } from './outbox-parts.ts';
import {
  INBOX_COLUMNS,
  type InboxRow,
  type MessageRow,
  type NewPart,
  readInboxRow,
  type TranscriptEntry,
} from './rows.ts';
import { readConversationHold, readSharedTime } from './taken-over.ts';
import { appendHistory } from './turns.ts';

/** A message that a person writes in a chat, as the agent or as themselves (U12). */
export interface PersonReply {
  readonly conversationId: string;
  /** The name of the person's sign-in. */
  readonly by: string;
  readonly as: 'agent' | 'self';
  /** A second reply with the same key has no effect. */
  readonly requestKey: string;
  /**
   * The number of the newest message that the person has seen; the reply does not answer later
   * messages. If absent, it answers all waiting messages.
   */
  readonly seen?: number | undefined;
  readonly parts: readonly NewPart[];
  /**
   * Builds the history entries; `answered` are the messages that this reply answers instead of the
   * agent.
   */
  readonly entries: (answered: readonly InboxRow[]) => readonly TranscriptEntry[];
}

/**
 * `known`: an earlier reply with the same key is stored. `answered`: the number of messages that
 * the agent no longer answers.
 */
export type ReplyResult =
  | { readonly kind: 'known'; readonly turnId: string }
  | {
      readonly kind: 'stored';
      readonly turnId: string;
      readonly answered: number;
      readonly parts: readonly OutboundPart[];
    };

interface ReplyStorageDeps {
  readonly newId: NewId;
  readonly moment: number | null;
}

/**
 * Stores a reply as a turn written by a person, with its history and parts, in the caller's
 * transaction. In a conversation that was taken over, the reply answers the waiting messages, which
 * enter the history before it. In other conversations, the agent still answers them.
 */
export async function replyAsPerson(
  sql: Sql,
  reply: PersonReply,
  { newId, moment }: ReplyStorageDeps,
): Promise<ReplyResult | null> {
  const { conversationId, requestKey, by } = reply;
  // The lock makes a repeated request wait until the first request is stored.
  const lane = await lockUndeletedConversation(sql, conversationId);
  if (lane === undefined) return null;
  const known = await sql.get(KNOWN, { requestKey });
  if (known !== undefined) return { kind: 'known', turnId: known.id };
  const now = await readSharedTime(sql, moment);
  const hold = await readConversationHold(sql, conversationId, lane.taken_over_until, now);
  if (hold === 'deletion') return null;
  const turnId = newId('turn');
  const { session } = lane;
  const isLed = hold === 'person';
  const unfinished = isLed
    ? await endUnfinishedTurn(sql, { conversationId, session, by, now })
    : [];
  sql.send(WRITE, { turnId, conversationId, session, now, by, as: reply.as, requestKey });
  const answered = isLed
    ? await answerWaitingMessages(sql, reply, { turnId, now, unfinished })
    : [];
  appendHistory(sql, reply.entries(answered), { conversationId, session, turnId, now });
  const parts = insertParts(sql, reply.parts, { turnId, now, newId });
  return { kind: 'stored', turnId, answered: answered.length, parts };
}

interface UnfinishedTurn {
  readonly conversationId: string;
  readonly session: number;
  readonly by: string;
  readonly now: number;
}

/**
 * Ends the turn that the takeover left unfinished, because a person answers its messages, and
 * returns their numbers. A turn from before `/new`, or a turn with only Parley's own messages,
 * continues later.
 */
async function endUnfinishedTurn(
  sql: Sql,
  { conversationId, session, by, now }: UnfinishedTurn,
): Promise<readonly number[]> {
  const turn = await sql.get(UNFINISHED, { conversationId, session });
  if (turn === undefined) return [];
  const rows = (await sql.all(OF_TURN, { turnId: turn.id })).map(readInboxRow);
  if (!rows.some(isOfPerson)) return [];
  withdrawApprovals(sql, conversationId, by, now);
  sql.send(END, { turnId: turn.id, now, reason: `${by} answered instead` });
  sql.send(RETURN_TO_INBOX, { turnId: turn.id });
  releaseGroupContext(sql, conversationId, turn.id);
  return rows.map(({ seq }) => seq);
}

interface AnswerWaitingParams {
  readonly turnId: string;
  readonly now: number;
  readonly unfinished: readonly number[];
}

/** Closes the people's messages that this reply answers, and returns them. */
async function answerWaitingMessages(
  sql: Sql,
  { conversationId, seen = Number.MAX_SAFE_INTEGER }: PersonReply,
  { turnId, now, unfinished }: AnswerWaitingParams,
): Promise<readonly InboxRow[]> {
  const waiting = (await sql.all(WAITING, { conversationId })).map(readInboxRow);
  const answered = waiting.filter(
    (row) => isOfPerson(row) && (row.seq <= seen || unfinished.includes(row.seq)),
  );
  const seqs = encodeJson(answered.map(({ seq }) => seq));
  if (answered.length > 0) sql.send(CLOSE, { turnId, now, seqs });
  return answered;
}

const KNOWN = defineStatement('select id from turn where request_key = :requestKey').rows<{
  readonly id: string;
}>();

const WRITE = defineStatement(`
  insert into turn (id, conversation_id, session, state, attempts, started_at, finished_at,
    written_by, written_as, request_key)
  values (:turnId, :conversationId, :session, 'answered', 1, :now, :now, :by, :as, :requestKey)`);

// States are literals, because a partial index is used only if the query contains the index
// condition.
const UNFINISHED = defineStatement(`
  select id from turn
  where conversation_id = :conversationId and state = 'running' and session = :session`).rows<{
  readonly id: string;
}>();

const OF_TURN = defineStatement(
  `select ${INBOX_COLUMNS} from inbox where turn_id = :turnId order by seq`,
).rows<MessageRow>();

const WAITING = defineStatement(`
  select ${INBOX_COLUMNS} from inbox
  where conversation_id = :conversationId and state = 'waiting' order by seq`).rows<MessageRow>();

const END = defineStatement(`
  update turn set state = 'interrupted', finished_at = :now, reason = :reason
  where id = :turnId`);

const RETURN_TO_INBOX = defineStatement(`
  update inbox set state = 'waiting', turn_id = null, claimed_at = null where turn_id = :turnId`);

const CLOSE = defineStatement(`
  update inbox set state = 'done', outcome = 'answered', turn_id = :turnId, claimed_at = :now
  where seq in (select cast(value as bigint) from json_each(:seqs))`);
