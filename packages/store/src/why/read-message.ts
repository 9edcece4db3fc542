import {
  getConversationAgent,
  type MessageName,
  PromptLists,
  type RecentMessage,
  type WhyAnswer,
} from '@parley/core';
import { StepInfo } from '@parley/core/timeline';
import { APPROVAL_COLUMNS, type ApprovalRow, readApprovalRow } from '../approval-rows.ts';
import {
  buildByPersonColumn,
  findPersonalMessage,
  getChatTitle,
  TRIGGER,
} from '../conversation-views/list.ts';
import { parseInboundMessage } from '../conversation-views/messages.ts';
import type { ChatKey } from '../conversations.ts';
import { HEARTBEAT_LANE, isLane, OF_CHAT } from '../conversations.ts';
import { decodeJson, defineStatement, type Sql, StoreError } from '../database.ts';
import { readRetries } from '../outbox-parts.ts';
import { INBOX_COLUMNS, type InboxOutcome, type MessageRow, readInboxRow } from '../rows.ts';
import type { Row } from '../tables.ts';
import { addExpiredEnd, TAKEOVER_COLUMNS, type Takeover } from '../takeovers.ts';
import { readRuns } from '../turn-runs.ts';
import {
  type AcceptedMessageRecord,
  findMessages,
  isSameChat,
  listNewestMessages,
  type MessageMatch,
  type MessageRecord,
  type MessageTurnRecord,
  type NotAcceptedOutcome,
  type PartRecord,
  type PromptRecord,
  type TimedStep,
  type WhyQuestion,
} from './message-facts.ts';
import { buildTimeline } from './timeline.ts';

/**
 * Returns the path of the matching message, or `unknown` or `several` if there is not exactly one
 * match.
 */
export async function answerWhy(sql: Sql, question: WhyQuestion, now: number): Promise<WhyAnswer> {
  const found = await findMessages(sql, question);
  const [message, another] = found;
  if (message === undefined) return { kind: 'unknown' };
  if (another !== undefined) return { kind: 'several', candidates: found.map(toMessageName) };
  const facts = await READERS[message.table](sql, message, now);
  if (question.chat !== undefined && !isVisibleInChat(facts, question.chat))
    return { kind: 'unknown' };
  if (question.agent !== undefined && !isForAgent(facts, question.agent))
    return { kind: 'unknown' };
  return { kind: 'found', timeline: buildTimeline(facts, now) };
}

const READERS = { inbox: readAcceptedMessage, decision: readDecisionRecord, turn: readPageReply };

/** Lists the newest messages in all chats, with names and texts. */
export async function listRecentMessages(
  sql: Sql,
  limit: number,
): Promise<readonly RecentMessage[]> {
  const shown: RecentMessage[] = [];
  for (const found of await listNewestMessages(sql, limit)) {
    const { table, seq, channel, account, chatId } = found;
    const chat = { channel, account, chatId };
    const row = await (table === 'inbox'
      ? sql.get(ACCEPTED_MESSAGE, { seq, ...TRIGGER })
      : sql.get(SAID_THERE, { ...chat, ...TRIGGER }));
    const person = row === undefined ? null : findPersonalMessage(row);
    const said = row === undefined || table !== 'inbox' ? null : parseInboundMessage(row.message);
    shown.push({
      ...toMessageName(found),
      from: said?.trigger === undefined ? (said?.sender.name ?? null) : null,
      chat: getChatTitle(person) ?? chatId,
      conversationId: table === 'inbox' ? (row?.id ?? null) : null,
      text: said?.typed ?? said?.text ?? '',
    });
  }
  return shown;
}

const SAID_ROW =
  `select conversation_id as id, message, ${buildByPersonColumn('inbox.conversation_id')}
  from inbox where` as const;

interface InboundRow {
  readonly id: string;
  readonly message: string;
  readonly byPerson: string | null;
}

const ACCEPTED_MESSAGE = defineStatement(`${SAID_ROW} seq = :seq`).rows<InboundRow>();

const SAID_THERE = defineStatement(
  `${SAID_ROW} ${OF_CHAT} order by seq desc limit 1`,
).rows<InboundRow>();

function toMessageName({ table: _table, seq: _seq, ...name }: MessageMatch): MessageName {
  return name;
}

/**
 * Whether a message was meant for this agent; messages that were not accepted do not belong to an
 * agent.
 */
function isForAgent({ fate }: MessageRecord, agent: string | null): boolean {
  return fate.kind === 'not-taken' || (getConversationAgent(fate.conversationId) ?? null) === agent;
}

/** A chat shows Parley's own work only if it received a message about that work. */
function isVisibleInChat({ fate }: MessageRecord, chat: ChatKey): boolean {
  if (fate.kind === 'not-taken' || fate.trigger === null || fate.trigger === 'cron') return true;
  return isSameChat(fate.answeredIn, chat) && fate.parts.some(({ isHere }) => isHere);
}

function toMessagePosition({
  channel,
  account,
  chatId,
  messageId,
}: MessageMatch): MessageRecord['place'] {
  return { channel, account, chatId, messageId };
}

const DECISION = defineStatement(`
  select outcome, reason, decided_at as "receivedAt", sent_at as "sentAt" from ingress_decision
  where seq = :seq`).rows<
  Pick<MessageRecord, 'reason' | 'receivedAt' | 'sentAt'> & { readonly outcome: NotAcceptedOutcome }
>();

async function readDecisionRecord(sql: Sql, found: MessageMatch): Promise<MessageRecord> {
  const row = await sql.get(DECISION, { seq: found.seq });
  if (row === undefined) throw createDroppedMessageError(found);
  const { outcome, ...facts } = row;
  return { place: toMessagePosition(found), ...facts, fate: { kind: 'not-taken', outcome } };
}

/** In rare cases, a row is pruned or forgotten between the two reads of one request. */
function createDroppedMessageError({ messageId }: MessageMatch): StoreError {
  return new StoreError('store-failed', `Message ${messageId} has just been deleted. Ask again.`);
}

type MoreInboxColumns =
  | 'reason'
  | 'turn_id'
  | 'repeats'
  | 'interruptions'
  | 'claimed_at'
  | 'done_at';

interface AcceptedMessageRow extends MessageRow, Row<'inbox', MoreInboxColumns> {
  readonly state: AcceptedMessageRecord['state'];
  readonly outcome: InboxOutcome | null;
}

const TAKEN = defineStatement(`
  select ${INBOX_COLUMNS}, reason, state, outcome, turn_id, repeats, interruptions, claimed_at, done_at
  from inbox where seq = :seq`).rows<AcceptedMessageRow>();

async function readAcceptedMessage(
  sql: Sql,
  found: MessageMatch,
  now: number,
): Promise<MessageRecord> {
  const row = await sql.get(TAKEN, { seq: found.seq });
  if (row === undefined) throw createDroppedMessageError(found);
  const { message, route } = readInboxRow(row);
  const { conversation_id: conversationId, turn_id: turnId } = row;
  const { channel, account, chatId } = route;
  const answeredIn = { channel, account, chatId };
  const of = { conversationId, messageId: found.messageId };
  const isHeartbeat = isLane(conversationId, HEARTBEAT_LANE);
  const turn = turnId === null ? null : await readTurn(sql, turnId);
  const period = {
    conversationId,
    from: row.received_at,
    to: turn?.finishedAt ?? row.done_at ?? now,
  };
  const fate: MessageRecord['fate'] = {
    kind: 'taken',
    conversationId,
    answeredIn,
    trigger: message.trigger ?? null,
    ...{ state: row.state, outcome: row.outcome },
    ...{ repeats: row.repeats, interruptions: row.interruptions },
    ...{ settlesAt: row.settles_at, claimedAt: row.claimed_at, doneAt: row.done_at },
    // Only kinds and states are shown, because people chose the file names.
    files: (await sql.all(FILES, { seq: row.seq })).map(({ kind, state }) => `${kind} ${state}`),
    before: row.state === 'waiting' ? await findPreviousTurn(sql, conversationId) : null,
    run: isHeartbeat ? ((await sql.get(HEARTBEAT_RUN, { id: found.messageId })) ?? null) : null,
    cronJob: message.trigger === 'cron' ? ((await sql.get(JOB, of))?.id ?? null) : null,
    takeovers: (await sql.all(TAKEOVERS, period)).map((one) => addExpiredEnd(one, now)),
    turn,
    parts: await readParts(sql, { turnId, seq: row.seq }, answeredIn),
  };
  const sentAt = message.trigger === undefined ? message.sentAt : null;
  return {
    place: toMessagePosition(found),
    receivedAt: row.received_at,
    sentAt,
    reason: row.reason,
    fate,
  };
}

const TAKEOVERS = defineStatement(`
  select ${TAKEOVER_COLUMNS} from takeover
  where conversation_id = :conversationId and taken_at <= :to and until > :from
    and (ended_at is null or ended_at > :from)
  order by seq`).rows<Takeover>();

/**
 * Reads a text that a person wrote on the page and that does not answer a message: a turn with
 * parts, but without an inbound message.
 */
async function readPageReply(sql: Sql, found: MessageMatch): Promise<MessageRecord> {
  const { messageId: turnId, at } = found;
  const place = toMessagePosition(found);
  const turn = await readTurn(sql, turnId);
  const { conversationId } = (await sql.get(CONVERSATION_OF, { turnId })) ?? {};
  if (turn === null || conversationId === undefined) throw createDroppedMessageError(found);
  const nothing = { trigger: null, repeats: 0, interruptions: 0, settlesAt: null, doneAt: null };
  const fate: MessageRecord['fate'] = {
    kind: 'taken',
    conversationId,
    answeredIn: place,
    ...nothing,
    ...{ state: 'done', outcome: 'answered', claimedAt: at },
    ...{ files: [], before: null, run: null, cronJob: null, takeovers: [] },
    turn,
    parts: await readParts(sql, { turnId, seq: 0 }, place),
  };
  return { place, receivedAt: at, sentAt: null, reason: null, fate };
}

const CONVERSATION_OF = defineStatement(
  'select conversation_id as "conversationId" from turn where id = :turnId',
).rows<{ readonly conversationId: string }>();

const FILES = defineStatement(
  'select kind, state from attachment where inbox_seq = :seq order by attachment_index',
).rows<Row<'attachment', 'kind' | 'state'>>();

const HEARTBEAT_RUN = defineStatement(
  'select agent, task, state, reason from heartbeat_run where id = :id',
).rows<NonNullable<AcceptedMessageRecord['run']>>();

/** Finds the last message of a job; the job's name is not shown, because people wrote it. */
const JOB = defineStatement(`
  select id from cron_job
  where conversation_id = :conversationId and last_message_id = :messageId`).rows<
  Row<'cron_job', 'id'>
>();

// The state is a literal, because a partial index is used only if the query contains the index
// condition.
const TURN_BEFORE = defineStatement(`
  select id as "turnId", started_at as "startedAt", awaits from turn
  where conversation_id = :conversationId and state = 'running'`).rows<
  Pick<MessageTurnRecord, 'turnId' | 'startedAt'> & { readonly awaits: string | null }
>();

async function findPreviousTurn(
  sql: Sql,
  conversationId: string,
): Promise<AcceptedMessageRecord['before']> {
  const row = await sql.get(TURN_BEFORE, { conversationId });
  if (row === undefined) return null;
  const { awaits, ...turn } = row;
  return { ...turn, isSuspended: awaits !== null };
}

interface PartRow extends Omit<PartRecord, 'isHere' | 'retries'>, ChatKey {
  readonly retries: string | null;
}

// Finds the newest dead letter about a part, because replayed work may have failed again.
const PARTS = `
  select id, channel, account, chat_id as "chatId", part_index as "index", state, attempts,
    created_at as "createdAt", not_before as "notBefore", tried_at as "triedAt",
    sending_at as "sendingAt", sent_at as "sentAt", platform_message_id as "platformId", error, retries,
    (select settled from dead_letter where subject = outbox.id
      order by dead_letter.seq desc limit 1) as settled
  from outbox where`;

const PARTS_OF_TURN = defineStatement(`${PARTS} turn_id = :turnId order by seq`).rows<PartRow>();

const PARTS_OF_COMMAND = defineStatement(`${PARTS} answers = :seq order by seq`).rows<PartRow>();

/** Reads the parts that were added to the outbox by a turn, or by a command without a turn. */
async function readParts(
  sql: Sql,
  { turnId, seq }: { readonly turnId: string | null; readonly seq: number },
  here: ChatKey,
): Promise<readonly PartRecord[]> {
  const rows = await (turnId === null
    ? sql.all(PARTS_OF_COMMAND, { seq })
    : sql.all(PARTS_OF_TURN, { turnId }));
  return rows.map(({ channel, account, chatId, retries, ...part }) => ({
    ...part,
    isHere: isSameChat({ channel, account, chatId }, here),
    retries: readRetries(retries),
  }));
}

const TURN = defineStatement(`
  select turn.state, reason, attempts, started_at as "startedAt", finished_at as "finishedAt",
    lease_owner as worker, awaits, runs, put_off_since as "putOffSince",
    put_off_until as "putOffUntil", written_by as by, written_as as "writtenAs"
  from turn join conversation on conversation.id = turn.conversation_id where turn.id = :turnId`).rows<
  Omit<
    MessageTurnRecord,
    'turnId' | 'isSuspended' | 'written' | 'runs' | 'prompt' | 'steps' | 'approvals'
  > &
    Row<'turn', 'awaits' | 'runs'> & {
      readonly by: string | null;
      readonly writtenAs: 'agent' | 'self' | null;
    }
>();

const APPROVALS = defineStatement(`
  select ${APPROVAL_COLUMNS} from approval where turn_id = :turnId order by seq`).rows<ApprovalRow>();

/** Reads what is stored about a turn; null if the turn does not exist. */
async function readTurn(sql: Sql, turnId: string): Promise<MessageTurnRecord | null> {
  const row = await sql.get(TURN, { turnId });
  if (row === undefined) return null;
  const { awaits, runs, by, writtenAs, ...turn } = row;
  return {
    turnId,
    ...turn,
    isSuspended: awaits !== null,
    // A turn copied into a branch has an author, but was written under nobody's name.
    written: by === null || writtenAs === null ? null : { by, as: writtenAs },
    runs: readRuns(runs),
    prompt: await readPromptRecord(sql, turnId),
    steps: await listTimedSteps(sql, turnId),
    approvals: (await sql.all(APPROVALS, { turnId })).map(readApprovalRow),
  };
}

const PROMPT = defineStatement(`
  select created_at as at, layout, characters, tokens, parts from turn_prompt
  where turn_id = :turnId`).rows<Omit<PromptRecord, 'layers'> & { readonly parts: string }>();

async function readPromptRecord(sql: Sql, turnId: string): Promise<PromptRecord | null> {
  const row = await sql.get(PROMPT, { turnId });
  if (row === undefined) return null;
  const { parts, ...prompt } = row;
  const { data: sent = [] } = PromptLists.parts.safeParse(decodeJson(parts));
  return { ...prompt, layers: sent.filter(({ placement }) => placement !== 'tools').length };
}

const NEWEST_ANSWER = defineStatement(`
  select facts from turn_step where turn_id = (
    select turn.id from transcript join turn on turn.id = transcript.turn_id
    where transcript.conversation_id = :conversationId and transcript.session = :session
      and transcript.role = 'assistant' and turn.state = 'answered'
    order by transcript.seq desc limit 1)
  and facts is not null order by step_index desc limit 1`).rows<{ readonly facts: string }>();

/** Finds the details of the last step of a session's newest answer. */
export async function findNewestAnswerDetails(
  sql: Sql,
  conversationId: string,
  session: number,
): Promise<{ readonly model: string; readonly insteadOf?: string | undefined } | null> {
  const row = await sql.get(NEWEST_ANSWER, { conversationId, session });
  const { data } = StepInfo.safeParse(row === undefined ? null : decodeJson(row.facts));
  return data?.kind === 'model' ? data : null;
}

const STEPS = defineStatement(`
  select created_at as "endedAt", started_at as "startedAt", facts from turn_step
  where turn_id = :turnId and facts is not null order by step_index`).rows<
  Omit<TimedStep, 'facts'> & { readonly facts: string }
>();

/** Steps stored by an older version do not have these details. */
async function listTimedSteps(sql: Sql, turnId: string): Promise<readonly TimedStep[]> {
  return (await sql.all(STEPS, { turnId })).flatMap(({ facts, ...times }) => {
    const parsed = StepInfo.safeParse(decodeJson(facts));
    return parsed.success ? [{ ...times, facts: parsed.data }] : [];
  });
}
