import type { NewId } from '@parley/contracts';
import type { Generated, Insertable, Selectable } from 'kysely';
import { lockLeased } from './conversations.ts';
import type { Database, Sql } from './database.ts';
import { OPEN_APPROVAL } from './literals.ts';
import { insertParts } from './outbox-parts.ts';
import type { CommitResult, Lease, NewPart } from './rows.ts';
import type { Seq } from './tables.ts';
import { isUnfinished } from './turns.ts';

/**
 * What became of a question: `expired` nobody answered in time, `withdrawn` its turn was stopped,
 * `auto` the settings allow such calls and nobody was asked.
 */
type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired' | 'withdrawn' | 'auto';

/** A call of a tool that somebody has to allow (G05). */
export interface NewApproval {
  /** What people type; never used twice. */
  readonly code: string;
  readonly turnId: string;
  /** The call in the journal of its turn. */
  readonly callKey: string;
  readonly tool: string;
  /** The arguments as people are shown them. */
  readonly shown: string;
  /** Whose message led to the call: `telegram:42`. */
  readonly askedBy: string;
  /** Where, for people: `telegram group -5`. */
  readonly place: string;
  /** The conversation in which the question is put: it is decided there and nowhere else. */
  readonly askedIn: string;
  /** Who may decide besides owners. */
  readonly approvers: readonly string[];
  /** From then on it counts as refused. In ms. */
  readonly expiresAt: number;
}

/** A question and what became of it. Times in ms. */
export interface Approval extends NewApproval {
  readonly conversationId: string;
  readonly state: ApprovalState;
  readonly askedAt: number;
  /** The person; null where none decided. */
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
  /** How the call itself ended, once it was run. */
  readonly result: 'done' | 'failed' | null;
}

/** What `/approve` or `/deny` found. `closed`: it was decided, or over, before. */
export type ApprovalVerdict =
  | { readonly kind: 'decided' | 'closed'; readonly approval: Approval }
  /** It was put in another conversation, so nothing is decided here. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'unknown' }
  /** No code was given: what was put in this conversation and waits. */
  | { readonly kind: 'pending'; readonly approvals: readonly Approval[] };

/**
 * Questions to people, each decided at most once. A turn with an open question is suspended: it is
 * not claimed, and no other turn of its conversation begins (D02). The turn writes the table `approval`, a
 * command of the inbox decides; the next claim of the turn, the page and the audit read it.
 */
export type ApprovalRepository = ReturnType<typeof approvalRepository>;

export function approvalRepository(database: Database, newId: NewId) {
  return {
    /**
     * Stores the question, its outbox parts, and that the turn waits for it: one transaction, fenced
     * like a commit. The same call is asked about once, however often this is told.
     */
    ask: (lease: Lease, approval: NewApproval, parts: readonly NewPart[], now: number) =>
      database.write((sql) => ask(sql, { lease, approval, parts, now, newId })),

    /** Records that a call needed nobody's yes, because the settings allow it. */
    allow: (lease: Lease, approval: NewApproval, now: number): Promise<CommitResult> =>
      database.write(async (sql) => {
        if (!(await mayWrite(sql, lease, approval.turnId))) return 'fenced';
        await sql
          .insertInto('approval')
          .values(newApprovalRow(approval, lease.conversationId, 'auto', now))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        return 'committed';
      }),

    /** The question about a call; null when nobody was asked. */
    of: (turnId: string, callKey: string) =>
      database.read((sql) => approvalBy(sql, { turn_id: turnId, call_key: callKey })),

    /** Closes questions whose time is up; gives back the conversations whose turns go on. */
    expire: (now: number) => database.write((sql) => expireApprovals(sql, now)),

    /** The newest `limit` questions, newest first: the audit. */
    recent: (limit: number): Promise<readonly Approval[]> =>
      database.read(async (sql) => {
        const rows = await sql
          .selectFrom('approval')
          .selectAll()
          .orderBy('seq', 'desc')
          .limit(limit)
          .execute();
        return rows.map(readApprovalRow);
      }),
  };
}

interface Asking {
  readonly lease: Lease;
  readonly approval: NewApproval;
  readonly parts: readonly NewPart[];
  readonly now: number;
  readonly newId: NewId;
}

async function ask(
  sql: Sql,
  { lease, approval, parts, now, newId }: Asking,
): Promise<'asked' | 'code-taken' | 'fenced'> {
  if (!(await mayWrite(sql, lease, approval.turnId))) return 'fenced';
  const row = await sql
    .insertInto('approval')
    .values(newApprovalRow(approval, lease.conversationId, 'pending', now))
    .onConflict((conflict) => conflict.doNothing())
    .returning('seq')
    .executeTakeFirst();
  if (row === undefined) {
    const known = await approvalBy(sql, {
      turn_id: approval.turnId,
      call_key: approval.callKey,
    });
    return known === null ? 'code-taken' : 'asked';
  }
  await sql
    .updateTable('turn')
    // It has come this far, so its worker did not die of it: the count of attempts begins anew.
    .set({ awaits: approval.code, attempts: 0 })
    .where('id', '=', approval.turnId)
    .execute();
  // No parts of the answer, so of no turn.
  insertParts(sql, parts, { turnId: null, now, newId });
  return 'asked';
}

/** Whether the lease still holds the lane and this is its unfinished turn. */
async function mayWrite(sql: Sql, lease: Lease, turnId: string): Promise<boolean> {
  return (await lockLeased(sql, lease)) !== null && isUnfinished(sql, lease, turnId);
}

/** What somebody decided; `code` null: they only want to know what waits. */
interface ApprovalDecision {
  readonly code: string | null;
  readonly verdict: 'approved' | 'denied';
  /** `telegram:42`. */
  readonly by: string;
}

/**
 * Decides a question in the conversation where it was put, and people have read it, once: of several
 * presses the first counts, and none after its time. All who
 * close questions write the question first and its turn second, so they cannot wait in a circle.
 */
export async function decideApproval(
  sql: Sql,
  conversationId: string,
  { code, verdict, by }: ApprovalDecision,
  now: number,
): Promise<ApprovalVerdict> {
  if (code === null) return { kind: 'pending', approvals: await openIn(sql, conversationId, now) };
  const row = await sql
    .updateTable('approval')
    .set({ state: verdict, decided_by: by, decided_at: now })
    .where('code', '=', code)
    .where('state', '=', OPEN_APPROVAL)
    .where('expires_at', '>', now)
    .where('asked_in', '=', conversationId)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) {
    const approval = await approvalBy(sql, { code });
    if (approval === null) return { kind: 'unknown' };
    return approval.askedIn === conversationId
      ? { kind: 'closed', approval }
      : { kind: 'elsewhere' };
  }
  await letGoOn(sql, [row]);
  return { kind: 'decided', approval: readApprovalRow(row) };
}

/** Whatever stops a turn ends its waiting, too. */
export async function withdrawApprovals(
  sql: Sql,
  conversationId: string,
  by: string | null,
  now: number,
): Promise<void> {
  await sql
    .updateTable('approval')
    .set({ state: 'withdrawn', decided_by: by, decided_at: now })
    .where('conversation_id', '=', conversationId)
    .where('state', '=', OPEN_APPROVAL)
    .execute();
}

async function expireApprovals(sql: Sql, now: number): Promise<readonly string[]> {
  const rows = await sql
    .updateTable('approval')
    .set({ state: 'expired', decided_at: now })
    .where('state', '=', OPEN_APPROVAL)
    .where('expires_at', '<=', now)
    .returningAll()
    .execute();
  await letGoOn(sql, rows);
  return [...new Set(rows.map((row) => row.conversation_id))];
}

async function letGoOn(
  sql: Sql,
  rows: readonly { readonly turn_id: string; readonly code: string }[],
): Promise<void> {
  for (const { turn_id, code } of rows) {
    await sql
      .updateTable('turn')
      .set({ awaits: null })
      .where('id', '=', turn_id)
      .where('awaits', '=', code)
      .execute();
  }
}

async function openIn(sql: Sql, conversationId: string, now: number) {
  const rows = await sql
    .selectFrom('approval')
    .selectAll()
    .where('asked_in', '=', conversationId)
    .where('state', '=', OPEN_APPROVAL)
    .where('expires_at', '>', now)
    .orderBy('seq')
    .execute();
  return rows.map(readApprovalRow);
}

/** The row of a question that is being asked, or that the settings have answered already. */
function newApprovalRow(
  approval: NewApproval,
  conversationId: string,
  state: 'pending' | 'auto',
  now: number,
): Insertable<ApprovalTable> {
  return {
    code: approval.code,
    conversation_id: conversationId,
    turn_id: approval.turnId,
    call_key: approval.callKey,
    tool: approval.tool,
    shown: approval.shown,
    asked_by: approval.askedBy,
    place: approval.place,
    asked_in: approval.askedIn,
    // Ids of people hold no white space.
    approvers: approval.approvers.join('\n'),
    state,
    asked_at: now,
    expires_at: approval.expiresAt,
    decided_at: state === 'auto' ? now : null,
  };
}

/** A stored question as the other packages know it. */
export function readApprovalRow(row: Selectable<ApprovalTable>): Approval {
  return {
    code: row.code,
    conversationId: row.conversation_id,
    turnId: row.turn_id,
    callKey: row.call_key,
    tool: row.tool,
    shown: row.shown,
    askedBy: row.asked_by,
    place: row.place,
    askedIn: row.asked_in ?? row.conversation_id,
    approvers: row.approvers === '' ? [] : row.approvers.split('\n'),
    state: row.state,
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    result: row.result,
  };
}

/** One question, by the columns that name it; null when there is none. */
async function approvalBy(
  sql: Sql,
  names: { readonly code: string } | { readonly turn_id: string; readonly call_key: string },
): Promise<Approval | null> {
  const query = sql
    .selectFrom('approval')
    .selectAll()
    .where((eb) => eb.and(names));
  const row = await query.executeTakeFirst();
  return row === undefined ? null : readApprovalRow(row);
}

/** Questions whether a tool may be called, and what became of them; `approvers` has one per line. */
export interface ApprovalTable {
  seq: Seq;
  code: string;
  conversation_id: string;
  turn_id: string;
  call_key: string;
  tool: string;
  shown: string;
  asked_by: string;
  place: string;
  /** The conversation in which it was put; null in rows of older versions. */
  asked_in: Generated<string | null>;
  approvers: string;
  state: ApprovalState;
  asked_at: number;
  expires_at: number;
  decided_by: Generated<string | null>;
  decided_at: Generated<number | null>;
  result: Generated<'done' | 'failed' | null>;
}
