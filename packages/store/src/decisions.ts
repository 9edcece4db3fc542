import { getConversationAgent } from '@parley/core';
import {
  APPROVAL_COLUMNS,
  type Approval,
  type ApprovalRow,
  readApprovalRow,
} from './approval-rows.ts';
import type { ChatKey, MessageKey } from './conversations.ts';
import { HEARTBEAT_LANE, OF_CHAT } from './conversations.ts';
import { type Database, defineStatement, encodeJson, type Sql } from './database.ts';
import type { PartState } from './outbox-parts.ts';
import type { InboxOutcome } from './rows.ts';
import type { TurnState } from './turns.ts';
import type { NotAcceptedOutcome, WhyQuestion } from './why/message-facts.ts';

/** Why a message was not accepted and who sent it, without the message text. */
export interface UnacceptedMessageRecord extends MessageKey {
  readonly senderId: string;
  readonly outcome: NotAcceptedOutcome;
  readonly reason: string;
  readonly at: number;
  /** When the message was sent, according to the platform. */
  readonly sentAt?: number;
}

/** The approval that a suspended turn waits for. */
export interface PendingApproval extends Pick<Approval, 'code' | 'tool' | 'approvers'> {
  /** When the turn continues without a decision, in ms. */
  readonly expiresAt: number;
}

/** The outcome of a message's turn; times are in ms. */
export interface TurnTrace {
  readonly startedAt: number;
  readonly finishedAt: number | null;
  readonly outcome: TurnState;
  readonly reason: string | null;
  /** The approval that suspends the turn; set only for a `running` turn. */
  readonly awaits?: PendingApproval;
  /** How many times the turn was started. */
  readonly attempts: number;
  /** The number of answer parts by state: delivered, waiting, outcome unknown, given up. */
  readonly parts: Readonly<Record<'sent' | 'waiting' | 'unknown' | 'failed', number>>;
}

/** The recorded outcome of a message, or of an alert that was sent to its chat (D08). */
export interface MessageTrace {
  /** The message id; for an alert, the id of its run. */
  readonly messageId: string;
  readonly at: number;
  readonly outcome:
    | NotAcceptedOutcome
    | 'command'
    | 'waiting'
    | 'withdrawn'
    | 'set-aside'
    | 'turn'
    | 'alert';
  /**
   * Why the message was accepted or not, or null for rows stored before reasons were recorded; for
   * an alert, its task.
   */
  readonly reason: string | null;
  /** How many times a later message interrupted the turn; absent if that never happened. */
  readonly interruptions?: number;
  /** Set only for `turn` and `alert`. */
  readonly turn: TurnTrace | null;
}

/**
 * The maximum number of rows, which takes about 20 MB and is enough to explain yesterday's messages
 * on a busy installation.
 */
const KEPT = 100_000;

/** The limit per chat prevents a flood in one chat from displacing the rows of other chats. */
const KEPT_OF_CHAT = 20_000;

/** The number of rows added to a chat before it is trimmed. */
const CHECK_EVERY_ROWS = 500;

/**
 * Ingress decisions and their outcomes. Ingress writes the `ingress_decision` table; `/why` and the
 * page read it. A power cut may lose the newest rows, because nothing depends on them.
 */
export function createDecisionRepository(database: Database) {
  return {
    /**
     * Records that a message was not accepted, keeping the newest 20,000 rows of each chat and
     * 100,000 in total.
     */
    record: (decision: UnacceptedMessageRecord): Promise<void> =>
      database.write(async (sql) => {
        const row = await sql.get(RECORD, { ...decision, sentAt: decision.sentAt ?? null });
        if (row === undefined) return;
        sql.send(FORGET, { until: row.seq - KEPT });
        if (row.seq % CHECK_EVERY_ROWS === 0) sql.send(FORGET_OF_CHAT, decision);
      }, 'process'),

    /**
     * Reads the outcomes of the newest `limit` messages from a chat to an agent, and of the agent's
     * alerts there, oldest first.
     */
    stories: (
      chat: ChatKey,
      limit: number,
      agent?: string | undefined,
    ): Promise<readonly MessageTrace[]> =>
      database.read(async (sql) => {
        const stories = [
          ...(await readUnacceptedMessages(sql, chat, limit)),
          ...(await readAcceptedMessages(sql, chat, limit, agent)),
          ...(await listSentAlerts(sql, chat, agent)),
        ];
        return stories.sort((a, b) => a.at - b.at).slice(-limit);
      }),
  };
}

const RECORD = defineStatement(`
  insert into ingress_decision (channel, account, chat_id, message_id, sender_id, outcome, reason, decided_at,
    sent_at)
  values (:channel, :account, :chatId, :messageId, :senderId, :outcome, :reason, :at, :sentAt)
  on conflict (channel, account, chat_id, message_id) do nothing returning seq`).rows<{
  readonly seq: number;
}>();

const FORGET = defineStatement('delete from ingress_decision where seq <= :until');

const FORGET_OF_CHAT = defineStatement(`
  delete from ingress_decision where ${OF_CHAT} and seq <= (
    select seq from ingress_decision where ${OF_CHAT} order by seq desc limit 1 offset ${KEPT_OF_CHAT})`);

async function readUnacceptedMessages(
  sql: Sql,
  chat: ChatKey,
  limit: number,
): Promise<MessageTrace[]> {
  const rows = await sql.all(NOT_TAKEN, { ...chat, limit });
  return rows.reverse().map((row) => ({ ...row, turn: null }));
}

const NOT_TAKEN = defineStatement(`
  select message_id as "messageId", decided_at as at, outcome, reason from ingress_decision
  where ${OF_CHAT} order by seq desc limit :limit`).rows<Omit<MessageTrace, 'turn'>>();

/** An accepted message and its turn, if it has one. */
interface AcceptedMessageRow {
  readonly conversationId: string;
  readonly messageId: string;
  readonly at: number;
  readonly outcome: InboxOutcome | null;
  readonly reason: string | null;
  readonly interruptions: number;
  readonly turnId: string | null;
  readonly turnState: TurnState | null;
  readonly turnReason: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly attempts: number | null;
  readonly awaits: string | null;
}

const TAKEN = defineStatement(`
  select inbox.conversation_id as "conversationId", message_id as "messageId", received_at as at, inbox.outcome, inbox.reason, interruptions,
    turn_id as "turnId", turn.state as "turnState", turn.reason as "turnReason",
    started_at as "startedAt", finished_at as "finishedAt", attempts, awaits
  from inbox left join turn on turn.id = inbox.turn_id
  where ${OF_CHAT} order by seq desc limit :limit`).rows<AcceptedMessageRow>();

async function readAcceptedMessages(
  sql: Sql,
  chat: ChatKey,
  limit: number,
  agent: string | undefined,
): Promise<MessageTrace[]> {
  const rows = (await sql.all(TAKEN, { ...chat, limit })).filter(
    ({ conversationId }) => getConversationAgent(conversationId) === agent,
  );
  const parts = await countTurnParts(sql, new Set(rows.flatMap(({ turnId }) => turnId ?? [])));
  const asked = await listAwaitedApprovals(
    sql,
    new Set(rows.flatMap(({ awaits }) => awaits ?? [])),
  );
  return rows.reverse().map((row): MessageTrace => {
    const { messageId, at, reason, interruptions, turnId, turnState, startedAt, finishedAt } = row;
    const base = { messageId, at, reason, ...(interruptions > 0 && { interruptions }) };
    if (turnId === null || turnState === null || startedAt === null) {
      return { ...base, outcome: getOutcomeWithoutTurn(row.outcome), turn: null };
    }
    const awaits = asked.get(row.awaits ?? '');
    const turn: TurnTrace = {
      ...{ startedAt, finishedAt, outcome: turnState, reason: row.turnReason },
      attempts: row.attempts ?? 1,
      parts: parts.get(turnId) ?? NO_PARTS,
      ...(awaits === undefined ? {} : { awaits }),
    };
    return { ...base, outcome: 'turn', turn };
  });
}

function getOutcomeWithoutTurn(outcome: string | null): MessageTrace['outcome'] {
  if (outcome === 'command' || outcome === 'withdrawn') return outcome;
  return outcome === null ? 'waiting' : 'set-aside';
}

const NO_PARTS: TurnTrace['parts'] = { sent: 0, waiting: 0, unknown: 0, failed: 0 };

const PARTS = defineStatement(`
  select turn_id as "turnId", state from outbox
  where turn_id is not null and turn_id in (select value from json_each(:turnIds))`).rows<{
  readonly turnId: string;
  readonly state: PartState;
}>();

async function countTurnParts(
  sql: Sql,
  turnIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, TurnTrace['parts']>> {
  const parts = new Map<string, TurnTrace['parts']>();
  for (const { turnId, state } of await sql.all(PARTS, { turnIds: encodeJson([...turnIds]) })) {
    const counted = parts.get(turnId) ?? NO_PARTS;
    const kind = state === 'pending' || state === 'sending' ? 'waiting' : state;
    parts.set(turnId, { ...counted, [kind]: counted[kind] + 1 });
  }
  return parts;
}

const AWAITED = defineStatement(`
  select ${APPROVAL_COLUMNS} from approval
  where code in (select value from json_each(:codes))`).rows<ApprovalRow>();

/** Lists the open questions with these codes. */
async function listAwaitedApprovals(
  sql: Sql,
  codes: ReadonlySet<string>,
): Promise<ReadonlyMap<string, PendingApproval>> {
  const rows = codes.size === 0 ? [] : await sql.all(AWAITED, { codes: encodeJson([...codes]) });
  return new Map(
    rows.map(readApprovalRow).map(({ code, tool, approvers, expiresAt }) => {
      return [code, { code, tool, approvers, expiresAt }];
    }),
  );
}

/** The number of a chat's newest parts that are searched for alerts. */
const LATEST_PARTS = 100;

const ALERTS = defineStatement(`
  select run.id as "messageId", run.task as reason, inbox.conversation_id as "conversationId", inbox.turn_id as "turnId", received_at as at,
    attempts, turn.started_at as "startedAt", turn.finished_at as "finishedAt"
  from inbox join heartbeat_run run on run.id = inbox.message_id join turn on turn.id = inbox.turn_id
  where (inbox.conversation_id like '${HEARTBEAT_LANE as string}%'
      or inbox.conversation_id like '@%/${HEARTBEAT_LANE as string}%') and inbox.turn_id is not null
    and inbox.turn_id in (select turn_id from outbox
      where ${OF_CHAT} order by seq desc limit ${LATEST_PARTS})`).rows<
  Pick<MessageTrace, 'messageId' | 'reason' | 'at'> &
    Pick<TurnTrace, 'attempts' | 'startedAt' | 'finishedAt'> & {
      readonly turnId: string;
      readonly conversationId: string;
    }
>();

/**
 * Lists recent alerts from standing tasks in a chat. Runs that sent no alert to this chat are left
 * out.
 */
async function listSentAlerts(
  sql: Sql,
  chat: ChatKey,
  agent: string | undefined,
): Promise<readonly MessageTrace[]> {
  const runs = (await sql.all(ALERTS, chat)).filter(
    ({ conversationId }) => getConversationAgent(conversationId) === agent,
  );
  const parts = await countTurnParts(sql, new Set(runs.map(({ turnId }) => turnId)));
  return runs.map(({ messageId, reason, at, turnId, ...run }) => ({
    ...{ messageId, reason, at, outcome: 'alert' },
    turn: { ...run, outcome: 'answered', reason: null, parts: parts.get(turnId) ?? NO_PARTS },
  }));
}

/** The path that a message took, stage by stage (D08). Read-only. */
export type WhyRepository = ReturnType<typeof createWhyRepository>;

export function createWhyRepository(database: Database) {
  // Loaded on first use, because few installations use it.
  const reading = () => import('./why/read-message.ts');
  return {
    /** `now` (ms) is used to compute how long pending work has waited. */
    async ask(question: WhyQuestion, now: number) {
      const { answerWhy } = await reading();
      return database.read((sql) => answerWhy(sql, question, now));
    },
    /**
     * Reads the model that produced a session's newest answer and the model it replaced; null if
     * unknown.
     */
    async answeredBy(conversationId: string, session: number) {
      const { findNewestAnswerDetails } = await reading();
      return database.read((sql) => findNewestAnswerDetails(sql, conversationId, session));
    },
    /**
     * Lists the newest `limit` messages in all chats, newest first, including those that were not
     * accepted.
     */
    async recent(limit: number) {
      const { listRecentMessages } = await reading();
      return database.read((sql) => listRecentMessages(sql, limit));
    },
  };
}
