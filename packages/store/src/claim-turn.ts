import {
  type BusyMode,
  type BusyPolicy,
  decideNextAttempt,
  describeCrashes,
  resolveBusyMode,
} from '@parley/core';
import { selectFetchedRows } from './attachments.ts';
import {
  type ConversationRow,
  dropPlan,
  HEARTBEAT_LANE,
  isLane,
  lockLeasedConversation,
  SUB_AGENT_LANE,
} from './conversations.ts';
import { decodeJson, defineStatement, type Sql } from './database.ts';
import { claimGroupContext, HAS_GROUP_CONTEXT, readGroupContext } from './group-context.ts';
import { isPostponed, requeueTurnMessages } from './put-off.ts';
import { answerWithMessages, findOpenQuestion, isAnswerToQuestion } from './questions.ts';
import { isSameDestination, type ReadyMessages, selectReadyMessages } from './ready-messages.ts';
import {
  type ClaimedTurn,
  INBOX_COLUMNS,
  type InboxRow,
  type JournalStep,
  type Lease,
  type MessageRow,
  readInboxRow,
} from './rows.ts';
import { readOpenTools } from './sessions.ts';
import type { Row } from './tables.ts';
import { appendRun, countHangs, dropTurn, type TurnRun } from './turn-runs.ts';

/**
 * The result of a claim. `suspended`: messages wait behind a turn that waits for a decision or for
 * its model. `settling`: a burst may be incomplete (F08). `fenced`: the lease has been lost.
 */
export type ClaimResult =
  | { kind: 'turn'; turn: ClaimedTurn }
  | { kind: 'none' | 'suspended' }
  | { kind: 'settling'; retryInMs: number }
  | { kind: 'fenced' };

/** Which lane to claim, and how its waiting messages become a turn. */
export interface TurnClaimRequest {
  readonly lease: Lease;
  readonly busy: BusyPolicy;
  readonly newTurnId: string;
  readonly now: number;
}

/** Larger than the largest album plus any messages between its pictures. */
const MAX_FOLLOWUP_MESSAGES = 100;

/** A conversation that this transaction has locked. */
export type LockedLane = Pick<
  ConversationRow,
  'session' | 'lease_owner' | 'mode' | 'plan' | 'plan_run' | 'model'
> & {
  /** True if the conversation may have an unfinished turn. */
  readonly isUnfinished: boolean;
  /** The stored list of the session's opened tool groups. */
  readonly openTools: string | null;
};

/** Resumes the lane's unfinished turn, or creates a turn from the waiting messages. */
export async function claimTurn(sql: Sql, claim: TurnClaimRequest): Promise<ClaimResult> {
  const conversation = await lockLeasedConversation(sql, claim.lease);
  if (conversation === null) return { kind: 'fenced' };
  return claimTurnInLane(sql, claim, { ...conversation, isUnfinished: true });
}

/** Runs `claimTurn` for a caller that has just acquired the lane. */
export async function claimTurnInLane(
  sql: Sql,
  claim: TurnClaimRequest,
  conversation: LockedLane,
): Promise<ClaimResult> {
  const { conversationId } = claim.lease;
  const run = { at: claim.now, worker: conversation.lease_owner };
  const { session } = conversation;
  const unfinished = conversation.isUnfinished ? await resumeTurn(sql, claim, run, session) : null;
  // Later messages wait behind the suspended turn, so that turns run one at a time and in order
  // (D02).
  if (unfinished === 'suspended') return { kind: 'suspended' };
  if (unfinished !== null && 'kind' in unfinished) return unfinished;
  const { mode, model } = conversation;
  const openToolGroups = readOpenTools(conversation.openTools);
  const current = { mode, model, ...(openToolGroups.length > 0 && { openToolGroups }) };
  if (unfinished !== null) {
    // A turn of an earlier session must not get tools that were opened in the current one.
    const known = unfinished.session === session ? current : { mode, model };
    return { kind: 'turn', turn: { ...unfinished, ...known } };
  }
  const busy = await resolveCurrentBusyMode(sql, conversationId, claim.busy);
  const { waiting, hasContext } = await readWaitingRows(sql, conversationId, busy);
  const ready = selectReadyMessages(waiting, busy, claim.now);
  if (ready.kind === 'later') return { kind: 'settling', retryInMs: ready.at - claim.now };
  if (ready.kind === 'nothing') return { kind: 'none' };
  const turn = await beginTurn(sql, { ...claim, session, run, hasContext }, ready.rows);
  const isPassed = conversation.plan !== null && turn?.messages.some(isOfPerson) === true;
  if (isPassed && conversation.plan_run === 0) dropPlan(sql, conversationId);
  return turn === null ? { kind: 'none' } : { kind: 'turn', turn: { ...turn, ...current } };
}

export const isOfPerson = ({ message }: InboxRow): boolean => message.trigger === undefined;

const isDirect = ({ message }: InboxRow): boolean => message.chat.type === 'direct';

async function resumeTurn(
  sql: Sql,
  { lease: { conversationId }, now }: TurnClaimRequest,
  run: TurnRun,
  session: number,
): Promise<ClaimedTurn | 'suspended' | Extract<ClaimResult, { kind: 'settling' }> | null> {
  const turn = await sql.get(UNFINISHED, { conversationId });
  if (turn === undefined) return null;
  if (turn.awaits !== null) {
    const ready = await answerFromMessages(sql, turn.awaits, now);
    if (ready.kind === 'nothing') return 'suspended';
    if (ready.kind === 'later') return { kind: 'settling', retryInMs: ready.at - now };
  }
  const hangs = countHangs(turn.runs);
  const ends = { hangs, deaths: turn.attempts };
  // Other lanes keep such a turn: they do not send a notice that could have crashed the process,
  // and dropping their turn would require closing more than the turn.
  if (
    !isLane(conversationId, HEARTBEAT_LANE, SUB_AGENT_LANE) &&
    decideNextAttempt(ends) === 'drop'
  ) {
    dropTurn(sql, { turnId: turn.id, conversationId }, describeCrashes(ends), now);
    return null;
  }
  const steps = await readJournalSteps(sql, turn.id);
  if (turn.put_off_until !== null) {
    // The effects of tools cannot be undone, so only a turn that has not run any may be answered
    // together with later messages.
    const mayEnd = steps.length === 0 && turn.session === session;
    if (mayEnd && (await endPostponedTurnIfSuperseded(sql, conversationId, turn.id, now)))
      return null;
    if (isPostponed(turn.put_off_until, now)) return 'suspended';
  }
  sql.send(RESUME, {
    turnId: turn.id,
    attempts: turn.attempts + 1,
    runs: appendRun(turn.runs, run),
  });
  const rows = await sql.all(OF_TURN, { turnId: turn.id });
  return {
    turnId: turn.id,
    conversationId,
    session: turn.session,
    resumed: true,
    attempts: turn.attempts,
    hangs,
    ...(turn.put_off_since !== null && { putOffSince: turn.put_off_since }),
    messages: rows.map(readInboxRow),
    groupContext: await readGroupContext(sql, turn.id),
    steps,
  };
}

/**
 * Ends a postponed turn if a person has since written in the same chat; the next turn then answers
 * both.
 */
async function endPostponedTurnIfSuperseded(
  sql: Sql,
  conversationId: string,
  turnId: string,
  now: number,
): Promise<boolean> {
  const waiting = await listWaitingMessages(sql, conversationId, 'collect');
  const [first] = await sql.all(OF_TURN, { turnId });
  if (waiting.length === 0 || first === undefined) return false;
  const ready = selectReadyMessages(waiting, 'collect', now);
  if (ready.kind !== 'now' || !ready.rows.some(isOfPerson)) return false;
  const [next] = ready.rows;
  const { route } = readInboxRow(first);
  if (next === undefined || !isSameDestination(next.route, route)) return false;
  requeueTurnMessages(sql, conversationId, turnId, now);
  return true;
}

/** Answers a turn's open question with what the person asked has since written in the same chat. */
async function answerFromMessages(sql: Sql, code: string, now: number): Promise<ReadyMessages> {
  const question = await findOpenQuestion(sql, code, now);
  if (question === null) return { kind: 'nothing' };
  const [asked] = await sql.all(OF_TURN, question);
  if (asked === undefined) return { kind: 'nothing' };
  const { route } = readInboxRow(asked);
  const waiting = await listWaitingMessages(sql, question.conversationId, 'collect');
  const answers = waiting.filter(
    (row) => isAnswerToQuestion(question, row) && isSameDestination(row.route, route),
  );
  const ready = selectReadyMessages(answers, 'followup', now);
  if (ready.kind === 'now') await answerWithMessages(sql, question, ready.rows, now);
  return ready;
}

async function readJournalSteps(sql: Sql, turnId: string): Promise<readonly JournalStep[]> {
  const rows = await sql.all(STEPS, { turnId });
  return rows.map((row) => ({ index: row.step_index, content: decodeJson(row.content) }));
}

async function beginTurn(
  sql: Sql,
  claim: TurnClaimRequest & {
    readonly session: number;
    readonly run: TurnRun;
    /** True if there may be group context to claim. */
    readonly hasContext: boolean;
  },
  ready: readonly InboxRow[],
): Promise<ClaimedTurn | null> {
  const { session, run } = claim;
  const { conversationId } = claim.lease;
  const messages = await selectFetchedRows(sql, ready, claim.now);
  const last = messages.at(-1);
  if (last === undefined) return null;
  const { newTurnId: turnId, now } = claim;
  const runs = appendRun(null, run);
  sql.send(BEGIN, {
    turnId,
    conversationId,
    session,
    now,
    runs,
    ...findRequester(messages, last),
  });
  // These are the lane's oldest messages, without gaps, so the last number is enough to identify
  // them.
  sql.send(CLAIM, { turnId, conversationId, now, last: last.seq });
  // In a direct chat, the group context is not consumed by a turn that a person did not request.
  const isForContext =
    claim.hasContext && messages.some((row) => !isDirect(row) || isOfPerson(row));
  const groupContext = isForContext ? await claimGroupContext(sql, conversationId, turnId) : [];
  const started = { resumed: false, attempts: 0, messages, groupContext, steps: [] };
  return { turnId: claim.newTurnId, conversationId, session, ...started };
}

/**
 * Finds the person who asked, and when. The time is null if the turn was not requested by a person,
 * so that no waiting time is measured.
 */
function findRequester(messages: readonly InboxRow[], { message: { channel, sender } }: InboxRow) {
  const askedAt = messages.find(isOfPerson)?.receivedAt ?? null;
  return { personId: `${channel}:${sender.id}`, askedAt };
}

/** The busy mode that the policy sets for the chat in which the newest waiting message was sent. */
async function resolveCurrentBusyMode(
  sql: Sql,
  conversationId: string,
  policy: BusyPolicy,
): Promise<BusyMode> {
  // Each heartbeat run is a separate turn with its own outcome.
  if (isLane(conversationId, HEARTBEAT_LANE)) return 'followup';
  if (typeof policy === 'string') return policy;
  const newest = await sql.get(NEWEST, { conversationId });
  return newest === undefined ? 'collect' : resolveBusyMode(policy, readInboxRow(newest).message);
}

/** Lists a lane's waiting messages, oldest first, up to the maximum for one turn. */
export async function listWaitingMessages(
  sql: Sql,
  conversationId: string,
  busy: BusyMode,
): Promise<readonly InboxRow[]> {
  return (await readWaitingRows(sql, conversationId, busy)).waiting;
}

async function readWaitingRows(sql: Sql, conversationId: string, busy: BusyMode) {
  // SQLite and PostgreSQL express "no limit" differently, so this uses a number that is never
  // reached.
  const limit = busy === 'followup' ? MAX_FOLLOWUP_MESSAGES : Number.MAX_SAFE_INTEGER;
  const rows = await sql.all(WAITING, { conversationId, limit });
  return {
    waiting: rows.map(readInboxRow),
    hasContext: rows.some(({ context }) => Boolean(context)),
  };
}

// States are literals, because a partial index is used only if the query contains the index
// condition.
const IS_WAITING = "conversation_id = :conversationId and state = 'waiting'";

const WAITING = defineStatement(
  `select ${INBOX_COLUMNS}, ${HAS_GROUP_CONTEXT} as context
  from inbox where ${IS_WAITING} order by seq limit :limit`,
).rows<MessageRow & { readonly context: number | boolean }>();

const NEWEST = defineStatement(
  `select ${INBOX_COLUMNS} from inbox where ${IS_WAITING} order by seq desc limit 1`,
).rows<MessageRow>();

const OF_TURN = defineStatement(
  `select ${INBOX_COLUMNS} from inbox where turn_id = :turnId order by seq`,
).rows<MessageRow>();

const CLAIM = defineStatement(`
  update inbox set state = 'claimed', turn_id = :turnId, claimed_at = :now
  where ${IS_WAITING} and seq <= :last`);

const BEGIN = defineStatement(`
  insert into turn (id, conversation_id, session, state, attempts, started_at, runs,
    person_id, asked_at)
  values (:turnId, :conversationId, :session, 'running', 1, :now, :runs, :personId, :askedAt)`);

const UNFINISHED = defineStatement(`
  select id, session, attempts, awaits, runs, put_off_since, put_off_until from turn
  where conversation_id = :conversationId and state = 'running'`).rows<
  Row<'turn', 'id' | 'session' | 'attempts' | 'awaits' | 'runs' | 'put_off_since' | 'put_off_until'>
>();

const RESUME = defineStatement(`
  update turn set attempts = :attempts, runs = :runs, put_off_until = null where id = :turnId`);

const STEPS = defineStatement(
  'select step_index, content from turn_step where turn_id = :turnId order by step_index',
).rows<{ readonly step_index: number; readonly content: string }>();
