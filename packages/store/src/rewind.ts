import { type ChatKey, countWaiting } from './conversations.ts';
import { defineStatement, encodeJson, type Sql } from './database.ts';
import { type DoneEffect, listEffects } from './done-effects.ts';
import { INBOX_COLUMNS, type InboxRow, type MessageRow, readInboxRow } from './rows.ts';
import { type StoppedWork, stopConversation } from './stop.ts';

/**
 * The point in a conversation's current session to which it is rewound. `exchanges`: before the
 * last so many questions of people. `quoted`, `shown`: a message in a chat, or in the conversation
 * view (`i12`, `o7`); a person's message is undone together with what follows it, and an answer is
 * kept.
 */
export type RewindPoint =
  | { readonly kind: 'exchanges'; readonly count: number }
  | { readonly kind: 'quoted'; readonly chat: ChatKey; readonly messageId: string }
  | { readonly kind: 'shown'; readonly id: string };

/** What a rewind removed from the history, and what it stopped. */
export interface Rewound extends StoppedWork {
  /** The turns that are no longer in the history. */
  readonly turns: readonly string[];
  /** The people's messages in these turns, oldest first. */
  readonly messages: readonly InboxRow[];
  /** What the tools of these turns have done, which a rewind cannot undo. */
  readonly effects: readonly DoneEffect[];
}

/** `unknown`: the message is not in the history of the current session. */
export type RewindResult = Rewound | 'nothing' | 'unknown';

/** A conversation that the caller has locked, and the session that is rewound. */
export interface RewoundLane {
  readonly id: string;
  readonly session: number;
}

/**
 * Removes everything after a point from the history that the model reads (G23). Nothing is deleted:
 * entries and turns move to the session `-1 - session`, which no turn reads, so views, `/forget`,
 * retention and backups treat them as before. Summaries that cover removed entries are deleted. A
 * running turn and waiting messages are stopped as by `/stop`. The caller has locked the
 * conversation.
 */
export async function rewindConversation(
  sql: Sql,
  lane: RewoundLane,
  point: RewindPoint,
  { by, now }: { readonly by: string; readonly now: number },
): Promise<RewindResult> {
  const found = await findRewindCut(sql, lane, point);
  if (found === 'unknown') return found;
  const { id, session } = lane;
  const cut = { id, session, ...found };
  const later = [...new Set((await sql.all(LATER_TURNS, cut)).map((row) => row.id))];
  const isBusy = found.isBusy || (await countWaiting(sql, id)) > 0;
  if (later.length === 0 && !isBusy) return 'nothing';
  const stopped = await stopConversation(sql, id, by, now);
  if (later.length === 0) return { ...stopped, turns: [], messages: [], effects: [] };
  sql.send(SET_ENTRIES_APART, cut);
  const moved = await sql.all(SET_TURNS_APART, { id, session, turns: encodeJson(later) });
  const own = moved.map((row) => row.id);
  const summaries = await sql.all(DROP_SUMMARIES, cut);
  // The prompt of a session may contain the summary of a day.
  if (summaries.some(({ kind }) => kind === 'day')) sql.send(DROP_PROMPT, { id, session });
  const rows = await sql.all(MESSAGES, { turns: encodeJson(own), trigger: TRIGGER });
  return {
    ...stopped,
    turns: later,
    messages: rows.map(readInboxRow),
    effects: await listEffects(sql, own),
  };
}

/** The first `transcript.seq` and the first `inbox.seq` after the point. */
export interface RewindCut {
  readonly entry: number;
  readonly message: number;
  /** Whether a turn is running. */
  readonly isBusy: boolean;
}

/** Past every entry and message. */
const END = Number.MAX_SAFE_INTEGER;

/** Finds where the history continues after a point in the current session. */
export async function findRewindCut(
  sql: Sql,
  lane: RewoundLane,
  point: RewindPoint,
): Promise<RewindCut | 'unknown'> {
  const { id, session } = lane;
  const isBusy = (await sql.get(RUNNING, { id })) !== undefined;
  if (point.kind !== 'exchanges') {
    const place = await findMessage(sql, id, point);
    const cut = place === undefined ? null : await findTurnCut(sql, lane, place);
    return cut === null ? 'unknown' : { ...cut, isBusy };
  }
  // Waiting messages are the last exchange unless they wait for a running turn, whose exchange
  // they then belong to. They leave with the stop.
  const isWaiting = !isBusy && (await countWaiting(sql, id)) > 0;
  const count = point.count - (isWaiting ? 1 : 0);
  const last = await sql.all(EXCHANGES, { id, session, count, trigger: TRIGGER });
  const turn = last.at(-1)?.turn;
  const cut = turn === undefined ? null : await findTurnCut(sql, lane, { turn, isAnswer: false });
  return { entry: END, message: END, ...cut, isBusy };
}

/** A message of a turn: a person's, or a part of the answer. */
interface MessagePlace {
  readonly turn: string;
  readonly isAnswer: boolean;
}

/** Cuts before a turn, or after it for an answer; null if the turn is not in the session. */
async function findTurnCut(
  sql: Sql,
  { id, session }: RewoundLane,
  { turn, isAnswer }: MessagePlace,
): Promise<Pick<RewindCut, 'entry' | 'message'> | null> {
  const found = await sql.get(TURN, { id, session, turn });
  if (found === undefined) return null;
  const { first, last, startedAt } = found;
  const from = found.from ?? END;
  const message = isAnswer ? (found.to ?? END) + 1 : from;
  if (first !== null && last !== null) return { entry: isAnswer ? last + 1 : first, message };
  const later = await sql.get(ENTRY_SINCE, { id, session, from, startedAt });
  return { entry: later?.entry ?? END, message };
}

/** The turn that claimed a message or sent a part. */
async function findMessage(
  sql: Sql,
  id: string,
  point: Exclude<RewindPoint, { kind: 'exchanges' }>,
): Promise<MessagePlace | undefined> {
  if (point.kind === 'shown') {
    const isAnswer = point.id.startsWith('o');
    const seq = Number(point.id.slice(1));
    const row = await sql.get(isAnswer ? SHOWN_PART : SHOWN_MESSAGE, { seq });
    return row?.turn == null ? undefined : { turn: row.turn, isAnswer };
  }
  const key = { ...point.chat, messageId: point.messageId };
  const said = await sql.get(QUOTED_MESSAGE, { ...key, id });
  if (said?.turn != null) return { turn: said.turn, isAnswer: false };
  const sent = await sql.get(QUOTED_PART, key);
  return sent?.turn == null ? undefined : { turn: sent.turn, isAnswer: true };
}

interface TurnOf {
  readonly turn: string | null;
}

const SHOWN_MESSAGE = defineStatement(
  'select turn_id as turn from inbox where seq = :seq',
).rows<TurnOf>();

const SHOWN_PART = defineStatement(
  'select turn_id as turn from outbox where seq = :seq',
).rows<TurnOf>();

const IN_CHAT = 'channel = :channel and account = :account and chat_id = :chatId';

const QUOTED_MESSAGE = defineStatement(`
  select turn_id as turn from inbox
  where ${IN_CHAT} and message_id = :messageId and conversation_id = :id`).rows<TurnOf>();

const QUOTED_PART = defineStatement(`
  select turn_id as turn from outbox where ${IN_CHAT} and platform_message_id = :messageId
  order by seq desc limit 1`).rows<TurnOf>();

/** Messages from Parley itself have a trigger; inside a JSON string, its quotes are escaped. */
const TRIGGER = '%,"trigger":"%';

// The state is a literal, because a partial index is used only if the query contains the index
// condition.
const RUNNING = defineStatement(
  "select id from turn where conversation_id = :id and state = 'running'",
).rows<{ readonly id: string }>();

/** The session's entries; an alert of the heartbeat has an entry, but a turn of another lane. */
const ENTRIES = 'from transcript where conversation_id = :id and session = :session';

const TURN = defineStatement(`
  select first, last, "startedAt", (select min(seq) from inbox where turn_id = :turn) as "from",
    (select max(seq) from inbox where turn_id = :turn) as "to"
  from (select session, conversation_id, started_at as "startedAt",
      (select min(seq) ${ENTRIES} and turn_id = :turn) as first,
      (select max(seq) ${ENTRIES} and turn_id = :turn) as last
    from turn where id = :turn) as found
  where first is not null or (session = :session and conversation_id = :id)`).rows<{
  readonly first: number | null;
  readonly last: number | null;
  readonly startedAt: number;
  readonly from: number | null;
  readonly to: number | null;
}>();

/**
 * Finds the first entry since a turn without entries was started. The entries of the exchange
 * before it are excluded by their number, because the clocks of two workers may differ.
 */
const ENTRY_SINCE = defineStatement(`
  select min(seq) as entry ${ENTRIES} and created_at >= :startedAt and seq > coalesce((
    select max(seq) ${ENTRIES} and turn_id = (select turn_id from inbox
      where conversation_id = :id and inbox.seq < :from and turn_id is not null
        and exists (select 1 ${ENTRIES} and transcript.turn_id = inbox.turn_id)
      order by inbox.seq desc limit 1)), 0)`).rows<{ readonly entry: number | null }>();

/** How many of a conversation's newest messages are searched for exchanges. */
const MAX_SEARCHED = 2_000;

/**
 * Lists the newest exchanges of the session, newest first: turns that answered people and are in
 * the history, are running, or were stopped.
 */
const EXCHANGES = defineStatement(`
  select turn.id as turn from (select seq, turn_id from inbox
      where conversation_id = :id and turn_id is not null and message not like :trigger
        and coalesce(outcome, '') not in ('command', 'replaced')
      order by seq desc limit ${MAX_SEARCHED}) as said
    join turn on turn.id = said.turn_id
  where turn.session = :session and turn.conversation_id = :id
    and (turn.state in ('running', 'stopped') or exists (select 1 ${ENTRIES} and turn_id = turn.id))
  group by turn.id order by min(said.seq) desc limit :count`).rows<{ readonly turn: string }>();

/**
 * Lists the turns after a cut: those with entries, those without, and interrupted ones, whose
 * messages a later turn answered.
 */
const LATER_TURNS = defineStatement(`
  select turn_id as id ${ENTRIES} and seq >= :entry
  union all
  select turn.id from inbox join turn on turn.id = inbox.turn_id
  where inbox.conversation_id = :id and inbox.seq >= :message
    and turn.conversation_id = :id and turn.session = :session
    and not exists (select 1 ${ENTRIES} and turn_id = turn.id)
  union all
  select id from turn
  where finished_at >= (select received_at from inbox
      where conversation_id = :id and seq >= :message order by seq limit 1)
    and conversation_id = :id and session = :session and state = 'interrupted'`).rows<{
  readonly id: string;
}>();

const SET_ENTRIES_APART = defineStatement(`
  update transcript set session = -1 - session
  where conversation_id = :id and session = :session and seq >= :entry`);

const SET_TURNS_APART = defineStatement(`
  update turn set session = -1 - session
  where id in (select value from json_each(:turns)) and conversation_id = :id and session = :session
  returning id`).rows<{ readonly id: string }>();

/** Also drops claims, so that a summary that is being written is not stored. */
const DROP_SUMMARIES = defineStatement(`
  delete from summary where conversation_id = :id and session = :session
    and (content is null or last_seq >= :entry) returning kind`).rows<{ readonly kind: string }>();

const DROP_PROMPT = defineStatement(`
  delete from session_snapshot
  where conversation_id = :id and session = :session and snapshot_key like '%prompt_%'`);

const MESSAGES = defineStatement(`
  select ${INBOX_COLUMNS} from inbox
  where turn_id in (select value from json_each(:turns)) and message not like :trigger
    and coalesce(outcome, '') <> 'replaced'
  order by seq`).rows<MessageRow>();
