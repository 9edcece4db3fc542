import { approveRequest, type PairingRequest, pendingRequests, personOf } from './access.ts';
import { type ApprovalVerdict, decideApproval, withdrawApprovals } from './approvals.ts';
import {
  COMPLETION,
  changeMode,
  changeModel,
  type ModeChange,
  type ModelChange,
  type PlanRun,
  takePlan,
} from './conversations.ts';
import { type Sql, statement, toJson } from './database.ts';
import { type Resend, resendUncertain } from './dead-letters.ts';
import { clearGroupContext, releaseGroupContext } from './group-context.ts';
import { applyLink, type LinkAction, type LinkAsker, type LinkResult } from './links.ts';
import { pressCounts } from './own-answers.ts';
import { type AnswerVerdict, answerQuestion } from './questions.ts';
import type { ConversationMode } from './rows.ts';
import { type AdmittedMessage, INBOX_COLUMNS, type MessageRow, readInboxRow } from './rows.ts';
import type { Row } from './tables.ts';
import { BY_STOP } from './turns.ts';

/** What a command does to its conversation in the transaction that stores it. */
export type CommandEffect =
  | { readonly kind: 'none' }
  /** `/new`: later turns start with an empty history. */
  | { readonly kind: 'new-session' }
  /**
   * `/stop`: fences the running turn (its epoch is passed), marks it stopped and sets aside every
   * message stored before the command. With `senderId` only what that person alone asked for.
   */
  | { readonly kind: 'stop'; readonly senderId?: string }
  /** `/pair`: allows the sender of the code (null: none), and lists who waits; only those about whom the asker may decide. */
  | {
      readonly kind: 'pair';
      readonly code: string | null;
      readonly isTheirs?: (stranger: PairingRequest) => boolean;
    }
  | { readonly kind: 'mode'; readonly to: ConversationMode | null }
  /** `/model`; `to` null: that of the settings. */
  | { readonly kind: 'model'; readonly change: { readonly to: string | null } | 'show' }
  /** `/run`; `plan` as its button names it (null: the newest), `text` is what the message says that runs it. */
  | {
      readonly kind: 'run-plan';
      readonly plan: string | null;
      readonly text: string;
    }
  /** `/approve` and `/deny`; without a code nothing is decided. `by` is the person: `telegram:42`. */
  | {
      readonly kind: 'decide';
      readonly code: string | null;
      readonly verdict: 'approved' | 'denied';
      readonly by: string;
    }
  /** `/answer`: answers a question of `ask_user`. */
  | { readonly kind: 'answer'; readonly code: string; readonly by: string; readonly text: string }
  /**
   * `/resend`: a part of this chat that may have arrived is sent again. `key` is its idempotency key (null: the
   * newest such part). With `senderId` only if it answers that person.
   */
  | { readonly kind: 'resend'; readonly key: string | null; readonly senderId?: string }
  | { readonly kind: 'link'; readonly asker: LinkAsker; readonly action: LinkAction };

/** What a command's effect found, so that the answer can say it. */
export interface CommandResult {
  readonly duplicate: boolean;
  /** A turn was running (or waiting to be resumed) and is now stopped. */
  readonly stoppedTurn: string | null;
  /** Messages that waited and were set aside. */
  readonly setAside: number;
  /** Of `/stop` and `/new`: the lanes of the sub-agents that ran and are now stopped. */
  readonly stoppedSubAgents?: readonly string[];
  /** Of `/pair`: who was allowed, and who still waits. */
  readonly pairing?: {
    readonly approved: PairingRequest | null;
    readonly pending: readonly PairingRequest[];
  };
  /** Of `/mode`. */
  readonly mode?: ModeChange;
  /** Of `/model` and `/status`. */
  readonly model?: ModelChange;
  /** Of `/run`. */
  readonly plan?: PlanRun;
  /** Of `/approve` and `/deny`. */
  readonly approval?: ApprovalVerdict;
  /** Of `/answer`. */
  readonly answer?: AnswerVerdict;
  /** Of the message after the command, where it has one: `full`, as many wait as may. */
  readonly onward?: 'waits' | 'full';
  /** Of `/resend`. */
  readonly resend?: Resend;
  /** Of `/link`. */
  readonly link?: LinkResult;
  /** It was pressed below a message that Parley has not sent so, or that was edited since: nothing was done. */
  readonly isVoidPress?: true;
}

type Found = Omit<CommandResult, 'duplicate' | 'onward'>;

const NOTHING: Found = { stoppedTurn: null, setAside: 0 };

/** The turns and people, besides the sender of the command, whose words or names its answer may show. */
export function namedIn({ approval, answer, pairing }: CommandResult): readonly string[] {
  const listed = approval?.kind === 'pending' ? approval.approvals : [];
  const decided = approval !== undefined && 'approval' in approval ? [approval.approval] : [];
  const answered = answer !== undefined && 'question' in answer ? [answer.question] : [];
  const turns = [...listed, ...decided, ...answered].map(({ turnId }) => turnId);
  const approved = pairing?.approved ?? null;
  const strangers = [...(pairing?.pending ?? []), ...(approved === null ? [] : [approved])];
  return [...new Set([...turns, ...strangers.map(personOf)])];
}

const NEW_SESSION = statement(
  'update conversation set session = session + 1, plan = null where id = :conversationId',
);

/**
 * Does to a conversation what a command asks for. The caller has locked it, so all that waits was
 * stored before the command.
 */
export async function applyCommand(
  sql: Sql,
  { conversationId, message, route, receivedAt: now }: AdmittedMessage,
  effect: CommandEffect,
): Promise<Found> {
  // In the transaction of its effect, so that no edit comes between.
  if (!(await pressCounts(sql, message))) return { ...NOTHING, isVoidPress: true };
  switch (effect.kind) {
    case 'none':
      return NOTHING;
    case 'new-session':
      sql.send(NEW_SESSION, { conversationId });
      clearGroupContext(sql, conversationId);
      sql.send(SET_RESULTS_ASIDE, { root: conversationId, completion: COMPLETION });
      return { ...NOTHING, stoppedSubAgents: await stopSubAgents(sql, conversationId, now) };
    case 'stop':
      if (effect.senderId !== undefined) return stopOwn(sql, conversationId, effect.senderId, now);
      withdrawApprovals(sql, conversationId, `${message.channel}:${message.sender.id}`, now);
      return {
        ...(await stopLane(sql, conversationId, now, BY_STOP)),
        stoppedSubAgents: await stopSubAgents(sql, conversationId, now),
      };
    case 'mode':
      return { ...NOTHING, mode: await changeMode(sql, conversationId, effect.to) };
    case 'model':
      return { ...NOTHING, model: await changeModel(sql, conversationId, effect.change) };
    case 'run-plan':
      return { ...NOTHING, plan: await takePlan(sql, conversationId, effect.plan) };
    case 'decide':
      return { ...NOTHING, approval: await decideApproval(sql, conversationId, effect, now) };
    case 'answer':
      return { ...NOTHING, answer: await answerQuestion(sql, conversationId, effect, now) };
    case 'resend':
      return {
        ...NOTHING,
        resend: await resendUncertain(sql, { conversationId, route }, effect, now),
      };
    case 'link': {
      const { asker, action } = effect;
      const link = await applyLink(sql, asker, action, route, now);
      return { ...NOTHING, link };
    }
    case 'pair': {
      const { code, isTheirs = () => true } = effect;
      const theirs = (await pendingRequests(sql, now)).filter(isTheirs);
      const isMeant = theirs.some((one) => one.code === code);
      const approved = code !== null && isMeant ? await approveRequest(sql, code, now) : null;
      const pending = theirs.filter((one) => one.code !== approved?.code);
      return { ...NOTHING, pairing: { approved, pending } };
    }
  }
}

/**
 * Stops what runs on a lane and sets aside what waits there. The caller keeps other writers of the
 * lane waiting.
 */
export async function stopLane(
  sql: Sql,
  conversationId: string,
  now: number,
  reason?: typeof BY_STOP,
): Promise<Pick<CommandResult, 'stoppedTurn' | 'setAside'>> {
  sql.send(FENCE, { conversationId });
  withdrawApprovals(sql, conversationId, null, now);
  return {
    stoppedTurn: await stopTurn(sql, conversationId, now, reason),
    setAside: await sql.run(SET_ASIDE, { conversationId, now }),
  };
}

/**
 * As `stopLane`, for a person who may not stop others: the running turn only where all its messages
 * are theirs, and of those that wait their own.
 */
async function stopOwn(
  sql: Sql,
  conversationId: string,
  senderId: string,
  now: number,
): Promise<Pick<CommandResult, 'stoppedTurn' | 'setAside'>> {
  const rows = await sql.all(UNDONE, { conversationId });
  const messages = rows.map((row) => ({
    seq: row.seq,
    turn: row.turn,
    isOwn: readInboxRow(row).message.sender.id === senderId,
  }));
  const running = messages.filter(({ turn }) => turn !== null);
  const waiting = messages.filter(({ turn, isOwn }) => turn === null && isOwn);
  const seqs = toJson(waiting.map(({ seq }) => seq));
  const isOwnTurn = running.length > 0 && running.every(({ isOwn }) => isOwn);
  if (isOwnTurn) {
    sql.send(FENCE, { conversationId });
    withdrawApprovals(sql, conversationId, null, now);
  }
  return {
    stoppedTurn: isOwnTurn ? await stopTurn(sql, conversationId, now, BY_STOP) : null,
    setAside: await sql.run(SET_SOME_ASIDE, { conversationId, now, seqs }),
  };
}

async function stopTurn(
  sql: Sql,
  conversationId: string,
  now: number,
  reason: typeof BY_STOP | null = null,
): Promise<string | null> {
  const turn = await sql.get(STOP_TURN, { conversationId, now, reason });
  if (turn === undefined) return null;
  sql.send(STOP_MESSAGES, { turnId: turn.id });
  releaseGroupContext(sql, conversationId, turn.id);
  return turn.id;
}

/**
 * Ends all running sub-agents of a conversation with people, and returns the names of their lanes;
 * with `parent` only those that it has started itself.
 * The caller has locked the conversation; lanes nearer to it are written first, so that no process waits
 * for another in a circle.
 */
export async function stopSubAgents(
  sql: Sql,
  root: string,
  now: number,
  parent?: string,
): Promise<string[]> {
  const all = await sql.all(RUNNING_SUB_AGENTS, { root });
  const running = all.filter((run) => parent === undefined || run.parent_conversation === parent);
  for (const { id, conversation_id } of running) {
    await stopLane(sql, conversation_id, now);
    sql.send(STOP_SUB_AGENT, { id, now });
  }
  return running.map(({ conversation_id }) => conversation_id);
}

// States are written out, because a partial index serves only what names its condition.
const UNDONE = statement(`
  select ${INBOX_COLUMNS}, turn.id as turn from inbox left join turn on turn.id = inbox.turn_id
  where inbox.conversation_id = :conversationId
    and (inbox.state = 'waiting' or turn.state = 'running')`).rows<
  MessageRow & { readonly turn: string | null }
>();

/** From here on the running worker can write nothing more, and the next may begin at once. */
const FENCE = statement(`
  update conversation set epoch = epoch + 1, lease_owner = null, lease_until = null, plan = null
  where id = :conversationId`);

const STOP_TURN = statement(`
  update turn set state = 'stopped', finished_at = :now, reason = :reason
  where conversation_id = :conversationId and state = 'running' returning id`).rows<{
  readonly id: string;
}>();

const STOP_MESSAGES = statement(
  "update inbox set state = 'done', outcome = 'stopped' where turn_id = :turnId",
);

const SET_ASIDE = statement(`
  update inbox set state = 'done', outcome = 'stopped', done_at = :now
  where conversation_id = :conversationId and state = 'waiting'`);

const SET_SOME_ASIDE = statement(`
  update inbox set state = 'done', outcome = 'stopped', done_at = :now
  where conversation_id = :conversationId and state = 'waiting'
    and seq in (select cast(value as bigint) from json_each(:seqs))`);

const RUNNING_SUB_AGENTS = statement(`
  select id, conversation_id, parent_conversation from sub_agent
  where root_conversation = :root and state = 'running' order by depth`).rows<
  Row<'sub_agent', 'id' | 'conversation_id' | 'parent_conversation'>
>();

const STOP_SUB_AGENT = statement(
  "update sub_agent set state = 'stopped', finished_at = :now where id = :id",
);

/** Findings of sub-agents that wait in the inbox: a new session did not ask for them. */
const SET_RESULTS_ASIDE = statement(`
  update inbox set state = 'done', outcome = 'stopped'
  where conversation_id = :root and state = 'waiting' and message_id in (
    select id || :completion from sub_agent where root_conversation = :root)`);
