import { type NewId, ReplyRoute } from '@parley/core';
import {
  APPROVAL_COLUMNS,
  type Approval,
  type ApprovalRow,
  type NewApproval,
  type NumberedApprovalRow,
  readApprovalRow,
} from './approval-rows.ts';
import type { ApprovalView } from './conversation-views/approvals.ts';
import { lockLeasedConversation } from './conversations.ts';
import {
  type Database,
  decodeCheckedJson,
  defineStatement,
  encodeJson,
  type Sql,
} from './database.ts';
import { insertParts } from './outbox-parts.ts';
import type { CommitResult, Lease, NewPart } from './rows.ts';
import { isUnfinishedTurn } from './turns.ts';

/**
 * The result of `/approve` or `/deny`. `closed`: the approval was already decided or had expired.
 */
export type ApprovalVerdict =
  | { readonly kind: 'decided' | 'closed'; readonly approval: Approval }
  /** The question was asked in another conversation and cannot be decided here. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'unknown' }
  /** No code was given; `approvals` lists the open approvals in this conversation. */
  | { readonly kind: 'pending'; readonly approvals: readonly Approval[] };

/**
 * Approvals and questions to people, each decided at most once. A turn with an open question is
 * suspended: no worker claims it, and no other turn starts in its conversation (D02). The turn
 * writes to the `approval` table, and a command in the inbox records the decision. The worker that
 * next claims the turn, the page and the audit log read the table.
 */
export function createApprovalRepository(database: Database, newId: NewId) {
  return {
    /**
     * Stores the question with its outbox parts and suspends the turn, in one transaction that is
     * fenced like a commit. Repeated calls ask about the same tool call only once.
     */
    ask: (lease: Lease, approval: NewApproval, parts: readonly NewPart[], now: number) =>
      database.write((sql) => storeApproval(sql, { lease, approval, parts, now, newId })),

    /** Records that the settings allowed a tool call without asking. */
    allow: (lease: Lease, approval: NewApproval, now: number): Promise<CommitResult> =>
      database.write(async (sql) => {
        if (!(await canWriteTurn(sql, lease, approval.turnId))) return 'fenced';
        sql.send(ADD, toApprovalRow(approval, lease.conversationId, 'auto', now));
        return 'committed';
      }),

    /** Finds the approval for a tool call; null if nobody was asked. */
    of: (turnId: string, callKey: string) =>
      database.read((sql) => findApproval(sql, turnId, callKey)),

    /** Closes expired questions and returns the conversations whose turns can resume. */
    expire: (now: number) => database.write((sql) => expireApprovals(sql, now)),

    /**
     * Records a decision made on the page, which shows the question in full. As in a chat, an
     * approval is decided only once and only before its deadline.
     */
    decide: (
      code: string,
      decision: Omit<ApprovalDecision, 'code'>,
      now: number,
      /** Builds the notice for the chat in which the question was asked. */
      noticeOf: (verdict: ApprovalVerdict, route: ReplyRoute) => readonly NewPart[] = () => [],
    ) =>
      database.write(async (sql): Promise<ApprovalVerdict> => {
        const row = await sql.get(BY_CODE, { code });
        if (row === undefined) return { kind: 'unknown' };
        const { askedIn } = readApprovalRow(row);
        const verdict = await decideApproval(sql, askedIn, { ...decision, code }, now);
        if (verdict.kind !== 'decided') return verdict;
        const isHere = askedIn === row.conversationId;
        const asked = await (isHere ? sql.get(ASKED_HERE, row) : sql.get(ASKED_OWNER, row));
        if (asked !== undefined) {
          const route = decodeCheckedJson(ReplyRoute, asked.route, 'reply route of a question');
          const about = [row.turnId];
          insertParts(sql, noticeOf(verdict, route), { turnId: null, about, now, newId });
        }
        return verdict;
      }),

    /** Lists open approvals, oldest first, with the names of people and chats. */
    async waiting(now: number): Promise<readonly ApprovalView[]> {
      const { toApprovalViews } = await import('./conversation-views/approvals.ts');
      return database.read(async (sql) => toApprovalViews(sql, await sql.all(WAITING, { now })));
    },

    /**
     * Returns the newest `limit` approvals for the audit log, newest first, with names. With
     * `before`, returns only approvals with a smaller `seq`.
     */
    async recent(limit: number, before: number | null = null): Promise<readonly ApprovalView[]> {
      const { toApprovalViews } = await import('./conversation-views/approvals.ts');
      const values = { limit, before: before ?? Number.MAX_SAFE_INTEGER };
      return database.read(async (sql) => toApprovalViews(sql, await sql.all(NEWEST, values)));
    },
  };
}

interface StoreApprovalParams {
  readonly lease: Lease;
  readonly approval: NewApproval;
  readonly parts: readonly NewPart[];
  readonly now: number;
  readonly newId: NewId;
}

async function storeApproval(
  sql: Sql,
  { lease, approval, parts, now, newId }: StoreApprovalParams,
): Promise<'asked' | 'code-taken' | 'fenced'> {
  if (!(await canWriteTurn(sql, lease, approval.turnId))) return 'fenced';
  if ((await sql.run(ADD, toApprovalRow(approval, lease.conversationId, 'pending', now))) === 0) {
    const known = await findApproval(sql, approval.turnId, approval.callKey);
    return known === null ? 'code-taken' : 'asked';
  }
  sql.send(SUSPEND, { id: approval.turnId, code: approval.code });
  // A question's parts are not part of an answer, so they do not belong to a turn, although they
  // contain text from the people in the turn.
  insertParts(sql, parts, { turnId: null, about: [approval.turnId], now, newId });
  return 'asked';
}

/** Whether the lease still holds the lane and this turn is the lane's unfinished turn. */
async function canWriteTurn(sql: Sql, lease: Lease, turnId: string): Promise<boolean> {
  return (
    (await lockLeasedConversation(sql, lease)) !== null && isUnfinishedTurn(sql, lease, turnId)
  );
}

/** A person's decision on an approval. If `code` is null, the open approvals are only listed. */
export interface ApprovalDecision {
  readonly code: string | null;
  readonly verdict: 'approved' | 'denied';
  /** `telegram:42`. */
  readonly by: string;
}

/**
 * Decides an approval once, in the conversation where people have read the question. Only the first
 * button press before the deadline counts. Every function that closes approvals writes the approval
 * first and its turn second, so they cannot deadlock.
 */
export async function decideApproval(
  sql: Sql,
  conversationId: string,
  { code, verdict, by }: ApprovalDecision,
  now: number,
): Promise<ApprovalVerdict> {
  if (code === null) {
    const open = await sql.all(OPEN_IN, { conversationId, now });
    return { kind: 'pending', approvals: open.map(readApprovalRow) };
  }
  const row = await sql.get(DECIDE, { code, verdict, by, now, conversationId });
  if (row === undefined) {
    const known = await sql.get(BY_CODE, { code });
    if (known === undefined) return { kind: 'unknown' };
    const approval = readApprovalRow(known);
    return approval.askedIn === conversationId
      ? { kind: 'closed', approval }
      : { kind: 'elsewhere' };
  }
  releaseTurns(sql, [row]);
  return { kind: 'decided', approval: readApprovalRow(row) };
}

/**
 * Withdraws a conversation's open approvals. Code that stops a turn must also end the turn's
 * suspension.
 */
export function withdrawApprovals(
  sql: Sql,
  conversationId: string,
  by: string | null,
  now: number,
): void {
  sql.send(WITHDRAW, { conversationId, by, now });
}

async function expireApprovals(sql: Sql, now: number): Promise<readonly string[]> {
  const changed = await sql.all(EXPIRE, { now });
  const rows = changed.filter(({ state }) => state === 'expired');
  releaseTurns(sql, rows);
  return [...new Set(rows.map((row) => row.conversationId))];
}

/** Allows turns to be claimed again after their approvals were closed. */
export function releaseTurns(sql: Sql, rows: readonly ApprovalRow[]): void {
  for (const { turnId: id, code } of rows) sql.send(GO_ON, { id, code });
}

/**
 * Builds the row for an approval that people will be asked about or that the settings have already
 * allowed.
 */
function toApprovalRow(
  { approvers, rule = null, choices = null, ...approval }: NewApproval,
  conversationId: string,
  state: 'pending' | 'auto',
  now: number,
) {
  const decidedAt = state === 'auto' ? now : null;
  // Person ids do not contain whitespace, so a newline can separate them.
  const lines = approvers.join('\n');
  const list = choices === null ? null : encodeJson(choices);
  const row = { ...approval, rule, approvers: lines, choices: list };
  return { ...row, conversationId, state, now, decidedAt };
}

async function findApproval(sql: Sql, turnId: string, callKey: string): Promise<Approval | null> {
  const row = await sql.get(BY_CALL, { turnId, callKey });
  return row === undefined ? null : readApprovalRow(row);
}

const ADD = defineStatement(`
  insert into approval (code, conversation_id, turn_id, call_key, tool, shown, asked_by, place,
    asked_in, approvers, state, asked_at, expires_at, decided_at, rule, choices)
  values (:code, :conversationId, :turnId, :callKey, :tool, :shown, :askedBy, :place,
    :askedIn, :approvers, :state, :now, :expiresAt, :decidedAt, :rule, :choices)
  on conflict do nothing`);

// The turn suspended itself without crashing its worker, so its attempts are counted from 0 again.
const SUSPEND = defineStatement('update turn set awaits = :code, attempts = 0 where id = :id');

const GO_ON = defineStatement('update turn set awaits = null where id = :id and awaits = :code');

const BY_CODE = defineStatement(
  `select ${APPROVAL_COLUMNS} from approval where code = :code`,
).rows<ApprovalRow>();

const BY_CALL = defineStatement(
  `select ${APPROVAL_COLUMNS} from approval where turn_id = :turnId and call_key = :callKey`,
).rows<ApprovalRow>();

const ASKED_HERE = defineStatement(
  'select route from inbox where turn_id = :turnId order by seq desc limit 1',
).rows<{ readonly route: string }>();

// A question about another person's call is asked in the chat that an owner used last.
const ASKED_OWNER = defineStatement(`
  select route from inbox where from_owner = 1 and conversation_id = :askedIn
  order by seq desc limit 1`).rows<{ readonly route: string }>();

const NEWEST = defineStatement(`
  select ${APPROVAL_COLUMNS}, seq from approval where seq < :before and choices is null
  order by seq desc limit :limit`).rows<NumberedApprovalRow>();

const WAITING = defineStatement(`
  select ${APPROVAL_COLUMNS}, seq from approval where state = 'pending' and expires_at > :now and choices is null
  order by expires_at`).rows<NumberedApprovalRow>();

export const OPEN_IN = defineStatement(`
  select ${APPROVAL_COLUMNS} from approval
  where asked_in = :conversationId and state = 'pending' and expires_at > :now
    and choices is null order by seq`).rows<ApprovalRow>();

const DECIDE = defineStatement(`
  update approval set state = :verdict, decided_by = :by, decided_at = :now
  where code = :code and state = 'pending' and expires_at > :now and asked_in = :conversationId
    and choices is null
  returning ${APPROVAL_COLUMNS}`).rows<ApprovalRow>();

const WITHDRAW = defineStatement(`
  update approval set state = 'withdrawn', decided_by = :by, decided_at = :now
  where conversation_id = :conversationId and state = 'pending'`);

/**
 * If the clock was set back, the time at which a question was asked may lie in the future. Its
 * deadline is then counted from now, so that a clock change neither extends nor closes the
 * question.
 */
const EXPIRE = defineStatement(`
  update approval set state = case when expires_at <= :now then 'expired' else state end,
    decided_at = case when expires_at <= :now then :now else decided_at end,
    expires_at = case when expires_at > :now then :now + (expires_at - asked_at) else expires_at end,
    asked_at = case when expires_at > :now then :now else asked_at end
  where state = 'pending' and (expires_at <= :now or asked_at > :now)
  returning ${APPROVAL_COLUMNS}`).rows<ApprovalRow>();
