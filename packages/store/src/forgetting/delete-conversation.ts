import { lockConversation } from '../conversations.ts';
import { type Database, defineStatement, type Sql } from '../database.ts';
import { MARKS } from '../rows.ts';
import type { SharedClock } from '../shared-clock.ts';
import { stopLane, stopSubAgents } from '../stop.ts';
import { OF_CONVERSATION } from '../tables/conditions.ts';
import { readSharedTime } from '../taken-over.ts';
import { returnConversationToAgent } from '../takeovers.ts';
import {
  findCrossChatQuestions,
  forgetCrossChatQuestions,
  forgetParts,
  listPartsWithText,
  listTurns,
} from './carried-words.ts';
import { buildDeadLetterDeletion } from './copies.ts';
import { clearLaneText, sumCounts } from './empty-lane.ts';
import { getForgottenTable } from './forgotten-tables.ts';
import { listSubAgentLanes } from './person.ts';

/** A request to delete a conversation. */
export interface DeletionRequest {
  readonly conversationId: string;
  /** The name of the person who deletes the conversation. */
  readonly by: string;
  /** In ms. */
  readonly now: number;
  /**
   * Called for each lane whose turn was stopped, before its rows are removed, to notify the worker.
   */
  onStopped(conversationId: string): void;
}

/** What was removed with a deleted conversation. */
export interface DeletionResult {
  readonly messages: number;
  readonly cronJobs: number;
  /**
   * The number of all other rows that were removed or emptied: history, answers, steps, files,
   * summaries, prompts …
   */
  readonly rows: number;
}

/** The number of rows that deleting a conversation would remove, for the confirmation prompt. */
export interface DeletionCounts {
  readonly messages: number;
  readonly answers: number;
  readonly files: number;
  readonly cronJobs: number;
}

/**
 * How long no turn may start in the conversation while its rows are removed, in ms; messages wait.
 * If the process crashes during the deletion, the conversation stays in the list, and the agent
 * answers there again after this time.
 */
const HOLD_MS = 2 * 60_000;

/**
 * Deletes everything that anyone wrote in a conversation, the way `/forget` empties a direct chat,
 * and removes the conversation from the lists. Messages that arrive during the deletion wait and
 * form a new conversation afterwards. Returns null if the conversation does not exist.
 */
export async function deleteConversation(
  database: Database,
  deletion: DeletionRequest,
  sharedClock: SharedClock,
): Promise<DeletionResult | null> {
  const { conversationId: conversation, onStopped } = deletion;
  const mark = MARKS.deleted;
  const stopped = await database.write((sql) => stopAndHoldLanes(sql, deletion, sharedClock()));
  if (stopped === null) return null;
  for (const lane of stopped.lanes) onStopped(lane);
  const { message, part, heldUntil } = stopped;
  const values = { conversation, message, part };
  const subAgents = await listSubAgentLanes(database, conversation);
  const lanes = [...subAgents, conversation];
  const turns = await listTurns(database, lanes);
  const elsewhere = await findCrossChatQuestions(database, turns, lanes);
  const parts = await listPartsWithText(database, { turns, seqs: [], people: [] });
  let rows = await forgetParts(database, parts, mark);
  rows += await forgetCrossChatQuestions(database, elsewhere, [], mark);
  for (const lane of subAgents) {
    rows += sumCounts(await clearLaneText(database, lane, mark, OF_SUB_AGENT), () => true);
  }
  const counts = await clearLaneText(database, conversation, mark, { only: OLD_ROWS, values });
  await database.write(async (sql) => {
    sql.send(END, { ...values, heldUntil });
    // A mark set in the meantime would belong to the next conversation, and a part that failed in
    // the meantime no longer has text to send.
    sql.send(DROP_MARKS, { conversation });
    sql.send(DROP_LETTERS, { conversation, part });
  });
  return {
    messages: counts.get('inbox') ?? 0,
    cronJobs: counts.get('cron_job') ?? 0,
    rows: rows + sumCounts(counts, (table) => table !== 'inbox' && table !== 'cron_job'),
  };
}

/** Counts the rows that a deletion would remove; null if the conversation does not exist. */
export async function countRowsForDeletion(
  sql: Sql,
  conversation: string,
): Promise<DeletionCounts | null> {
  const counts = await sql.get(COUNTS, { conversation });
  return counts === undefined || counts.messages === 0 ? null : counts;
}

interface StoppedLanes {
  readonly lanes: readonly string[];
  /** The newest message and part; the deletion removes these and all earlier ones. */
  readonly message: number;
  readonly part: number;
  readonly heldUntil: number;
}

async function stopAndHoldLanes(
  sql: Sql,
  { conversationId: id, by, now }: DeletionRequest,
  moment: number | null,
): Promise<StoppedLanes | null> {
  if ((await lockConversation(sql, id)) === undefined) return null;
  if ((await sql.get(NEWEST, { id }))?.message == null) return null;
  await sql.run(DROP_LETTERS, { conversation: id, part: Number.MAX_SAFE_INTEGER });
  // Read only now, because a part that another process has just resent has a new number.
  const newest = await sql.get(NEWEST, { id });
  const subAgents = await stopSubAgents(sql, id, now);
  // No stop reason is passed, because the worker of a turn ended by `/stop` would still store the
  // visible part of its answer.
  const { stoppedTurn } = await stopLane(sql, id, now);
  await returnConversationToAgent(sql, id, by, moment);
  const heldUntil = (await readSharedTime(sql, moment)) + HOLD_MS;
  sql.send(HOLD, { id, heldUntil });
  const lanes = [...subAgents, ...(stoppedTurn === null ? [] : [id])];
  return { lanes, message: newest?.message ?? 0, part: newest?.part ?? 0, heldUntil };
}

const NEWEST = defineStatement(`
  select (select max(seq) from inbox where conversation_id = :id
      and seq > coalesce(conversation.deleted_message, 0)) as message,
    (select max(seq) from outbox) as part
  from conversation where id = :id`).rows<{
  readonly message: number | null;
  readonly part: number | null;
}>();

const HOLD = defineStatement(
  'update conversation set taken_over_until = :heldUntil where id = :id',
);

const DROP_MARKS = defineStatement(`delete from conversation_mark where ${OF_CONVERSATION}`);

/** If the hold ended too early, a person may have taken the conversation over since. */
const END = defineStatement(`
  update conversation
  set deleted_message = :message, deleted_part = :part, session = session + 1, plan = null, model = null,
    mode = 'agent',
    taken_over_until = case when taken_over_until = :heldUntil then null else taken_over_until end
  where id = :conversation`);

/**
 * The conversation's outbox parts: those of its turns, the answers to its commands, and any other
 * part in a chat that belongs to this conversation alone.
 */
const OWN_PARTS = `(turn_id in (select id from turn where conversation_id = :conversation)
  or answers in (select seq from inbox where conversation_id = :conversation)
  or (turn_id is null and answers is null
    and exists (select 1 from inbox as own where own.channel = outbox.channel and own.account = outbox.account
      and own.chat_id = outbox.chat_id and own.conversation_id = :conversation)
    and not exists (select 1 from inbox as other where other.channel = outbox.channel
      and other.account = outbox.account and other.chat_id = outbox.chat_id
      and other.conversation_id <> :conversation))) and seq <= :part`;

/** `OWN_PARTS` together with a condition on the chats, for which there is an index. */
const FOUND_PARTS = `${getForgottenTable('outbox').of} and ${OWN_PARTS}`;

const DROP_LETTERS = buildDeadLetterDeletion(OF_CONVERSATION, FOUND_PARTS);

/** Sub-agents send to the conversation's chat, so their parts are identified by their turns. */
const OF_SUB_AGENT = {
  tables: ['outbox'],
  only: { agent_file: 'turn_id in (select id from turn where conversation_id = :conversation)' },
};

/** Messages that arrive while rows are being removed stay. */
const OLD_ROWS = {
  inbox: 'seq <= :message',
  attachment: 'inbox_seq <= :message',
  outbox: OWN_PARTS,
  agent_file: `(turn_id in (select id from turn where conversation_id = :conversation)
    or part_id in (select id from outbox where ${FOUND_PARTS}))`,
};

const COUNTS = defineStatement(`
  select (select count(*) from inbox where conversation_id = :conversation
      and seq > coalesce(conversation.deleted_message, 0)) as messages,
    (select count(*) from turn where conversation_id = :conversation and state = 'answered'
      and exists (select 1 from inbox where inbox.turn_id = turn.id
        and inbox.seq > coalesce(conversation.deleted_message, 0))) as answers,
    (select count(*) from attachment join inbox on inbox.seq = attachment.inbox_seq
      where inbox.conversation_id = :conversation) as files,
    (select count(*) from cron_job where conversation_id = :conversation) as "cronJobs"
  from conversation where id = :conversation`).rows<DeletionCounts>();
