import { ReplyRoute } from '@parley/core';
import { selectFetchedRows } from './attachments.ts';
import { listWaitingMessages } from './claim-turn.ts';
import { lockLeasedConversation } from './conversations.ts';
import { decodeCheckedJson, defineStatement, type Sql } from './database.ts';
import { requeueTurnMessages } from './put-off.ts';
import { isSameDestination, selectReadyMessages } from './ready-messages.ts';
import type { ClaimedTurn, InboxRow, JournalStep, Lease } from './rows.ts';
import { isUnfinishedTurn, storeStep } from './turns.ts';

/** Which messages may join a running turn, and the journal steps that record them (D03). */
export interface JoinRules {
  readonly turnId: string;
  /** The mode when the turn started; messages sent in another mode do not join. */
  readonly mode: ClaimedTurn['mode'];
  /**
   * Whether a message may join the turn; the first message that may not join keeps waiting,
   * together with all later ones.
   */
  readonly mayJoin: (row: InboxRow) => boolean;
  /** Builds the journal steps that are stored together with the messages. */
  readonly steps: (rows: readonly InboxRow[]) => readonly JournalStep[];
}

/** The result of trying to interrupt a running turn. */
export type InterruptResult =
  | { readonly kind: 'interrupted' }
  /**
   * The waiting messages may not end the turn, or its messages have been interrupted often enough.
   */
  | { readonly kind: 'goes-on' }
  /** The waiting messages may be incomplete: check again after this many ms. */
  | { readonly kind: 'later'; readonly retryInMs: number }
  | { readonly kind: 'fenced' };

interface JoinRequest {
  readonly lease: Lease;
  readonly joining: JoinRules;
  readonly now: number;
}

/**
 * Adds waiting messages to a running turn and stores the journal steps that record them, in one
 * transaction.
 */
export async function joinTurn(
  sql: Sql,
  { lease, joining, now }: JoinRequest,
): Promise<{ kind: 'joined'; rows: readonly InboxRow[] } | { kind: 'none' } | { kind: 'fenced' }> {
  const conversation = await lockLeasedConversation(sql, lease);
  const { turnId, mode } = joining;
  if (conversation === null || !(await isUnfinishedTurn(sql, lease, turnId)))
    return { kind: 'fenced' };
  // Messages written after `/new` or `/mode` belong in a turn that obeys these commands.
  if (mode !== undefined && conversation.mode !== mode) return { kind: 'none' };
  const turn = await sql.get(SESSION_OF, { turnId });
  if (turn?.session !== conversation.session) return { kind: 'none' };
  const rows = await listJoinableMessages(sql, lease.conversationId, joining, now);
  const last = rows.at(-1);
  if (last === undefined) return { kind: 'none' };
  // Only the oldest waiting messages join, without a gap, so that the lane's order is preserved
  // (D02).
  sql.send(JOIN, { turnId, now, conversationId: lease.conversationId, last: last.seq });
  for (const step of joining.steps(rows)) await storeStep(sql, turnId, step, now);
  return { kind: 'joined', rows };
}

async function listJoinableMessages(
  sql: Sql,
  conversationId: string,
  { mayJoin }: JoinRules,
  now: number,
): Promise<readonly InboxRow[]> {
  const waiting = await listWaitingMessages(sql, conversationId, 'steer');
  const ready = selectReadyMessages(waiting, 'steer', now);
  if (ready.kind !== 'now') return [];
  const rows = await selectFetchedRows(sql, ready.rows, now);
  const end = rows.findIndex((row) => !mayJoin(row));
  return end === -1 ? rows : rows.slice(0, end);
}

/**
 * After this many interruptions in a row, the turn continues, so that a person who keeps writing
 * still gets an answer.
 */
const MAX_IN_A_ROW = 3;

/** How often to check whether a file has been fetched, in ms. */
const FILE_MS = 1_000;

interface InterruptRequest {
  readonly lease: Lease;
  readonly turnId: string;
  readonly now: number;
}

/**
 * Ends a running turn and returns its messages to the queue if a person has written since it
 * started.
 */
export async function interruptTurn(
  sql: Sql,
  { lease, turnId, now }: InterruptRequest,
): Promise<InterruptResult> {
  const conversation = await lockLeasedConversation(sql, lease);
  if (conversation === null) return { kind: 'fenced' };
  const turn = await sql.get(RUNNING, { turnId, conversationId: lease.conversationId });
  if (turn === undefined) return { kind: 'fenced' };
  // A turn with an open question is not interrupted, because the answer may come soon. Nor is a
  // turn that started before `/new`.
  if (turn.awaits !== null || turn.session !== conversation.session) return { kind: 'goes-on' };
  const found = await checkForInterruption(sql, lease.conversationId, turnId, now);
  if (found.kind === 'interrupted') requeueTurnMessages(sql, lease.conversationId, turnId, now);
  return found;
}

/** Only complete messages that a person wrote in the same chat interrupt a turn. */
async function checkForInterruption(
  sql: Sql,
  conversationId: string,
  turnId: string,
  now: number,
): Promise<InterruptResult> {
  const first = await sql.get(FIRST_OF_TURN, { turnId });
  if (first === undefined || first.interruptions >= MAX_IN_A_ROW) return { kind: 'goes-on' };
  const waiting = await listWaitingMessages(sql, conversationId, 'interrupt');
  const [next] = waiting;
  if (next === undefined || !isSameDestination(next.route, readRoute(first.route))) {
    return { kind: 'goes-on' };
  }
  const ready = selectReadyMessages(waiting, 'interrupt', now);
  if (ready.kind === 'later') return { kind: 'later', retryInMs: ready.at - now };
  if (ready.kind === 'nothing') return { kind: 'goes-on' };
  const whole = await selectFetchedRows(sql, ready.rows, now);
  if (whole.length === 0) return { kind: 'later', retryInMs: FILE_MS };
  const isByPerson = whole.some(({ message }) => message.trigger === undefined);
  return { kind: isByPerson ? 'interrupted' : 'goes-on' };
}

const readRoute = (text: string) => decodeCheckedJson(ReplyRoute, text, 'reply route of a message');

const JOIN = defineStatement(`
  update inbox set state = 'claimed', turn_id = :turnId, claimed_at = :now
  where conversation_id = :conversationId and state = 'waiting' and seq <= :last`);

const SESSION_OF = defineStatement('select session from turn where id = :turnId').rows<{
  readonly session: number;
}>();

const RUNNING = defineStatement(`
  select session, awaits from turn
  where id = :turnId and conversation_id = :conversationId and state = 'running'`).rows<{
  readonly session: number;
  readonly awaits: string | null;
}>();

const FIRST_OF_TURN = defineStatement(`
  select interruptions, route from inbox where turn_id = :turnId order by seq limit 1`).rows<{
  readonly interruptions: number;
  readonly route: string;
}>();
