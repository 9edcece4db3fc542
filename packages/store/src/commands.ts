import type { InboundMessage, NewId } from '@parley/core';
import {
  approveRequest,
  listPendingRequests,
  type PairingRequest,
  toApplicantPersonId,
} from './access.ts';
import type { Approval } from './approval-rows.ts';
import { type ApprovalDecision, type ApprovalVerdict, decideApproval } from './approvals.ts';
import { insertAttachments } from './attachments.ts';
import {
  changeMode,
  changeModel,
  consumeStoredPlan,
  countWaiting,
  lockConversation,
  type PlanRunResult,
} from './conversations.ts';
import { defineStatement, encodeJson, type Sql } from './database.ts';
import { resendUncertainPart } from './dead-letters.ts';
import { applyLink, type LinkAction, type LinkRequester } from './links.ts';
import { insertParts } from './outbox-parts.ts';
import { isValidButtonPress } from './own-answers.ts';
import { type AnswerVerdict, answerQuestion, type QuestionAnswer } from './questions.ts';
import { type RewindPoint, type RewindResult, rewindConversation } from './rewind.ts';
import {
  type AdmittedMessage,
  type ConversationMode,
  type FileRef,
  type NewPart,
  stripAttachmentKeys,
} from './rows.ts';
import { type StoppedWork, startSession, stopConversation, stopTurnOfSender } from './stop.ts';

/**
 * What a chat command can do in the transaction that stores it. A command may await nothing but
 * this transaction, because on SQLite every other writer waits for it.
 */
export type CommandTransaction = ReturnType<typeof createCommandTransaction>['transaction'];

/** A command's stored row, and the files sent with its message. */
interface CommandRow {
  readonly seq: number;
  readonly files: readonly FileRef[];
  readonly newId: NewId;
}

/**
 * Runs a command whose row was just stored, and adds its answer to the outbox. The caller has
 * locked the conversation, so every waiting message was stored before the command.
 */
export async function runInTransaction<T>(
  sql: Sql,
  admitted: AdmittedMessage,
  row: CommandRow,
  run: (transaction: CommandTransaction) => Promise<T>,
): Promise<T> {
  const { transaction, parts, named } = createCommandTransaction(sql, admitted, row);
  const result = await run(transaction);
  const { receivedAt: now, trace } = admitted;
  const origin = { turnId: null, now, newId: row.newId, answers: row.seq, trace };
  insertParts(sql, parts, { ...origin, about: [...named] });
  return result;
}

function createCommandTransaction(sql: Sql, admitted: AdmittedMessage, { seq, files }: CommandRow) {
  const { conversationId, message, route, receivedAt: now } = admitted;
  const parts: NewPart[] = [];
  /**
   * The turns, and the people other than the command's sender, whose text or names the answer may
   * contain.
   */
  const named = new Set<string>();
  const nameTurns = (all: readonly Approval[]) => {
    for (const { turnId } of all) named.add(turnId);
  };
  const becomeMessage = (text: InboundMessage) =>
    sql.send(BECOME_MESSAGE, { seq, message: encodeJson(stripAttachmentKeys(text)) });
  const transaction = {
    /**
     * False for a button press on a message that Parley did not send in this form or has since
     * edited; such a press has no effect.
     */
    pressCounts: () => isValidButtonPress(sql, message),

    /** `/new`: later turns start with an empty history. */
    startSession: () => startSession(sql, conversationId, now),

    /**
     * `/stop`: fences the running turn by raising the epoch, marks the turn as stopped, and sets
     * aside messages stored before the command. With `senderId`, stops only work that this person
     * alone requested.
     */
    stop: (senderId?: string): Promise<StoppedWork> =>
      senderId === undefined
        ? stopConversation(sql, conversationId, `${message.channel}:${message.sender.id}`, now)
        : stopTurnOfSender(sql, conversationId, senderId, now),

    /** `/rewind`: removes everything after a point from the history, and stops what is running. */
    async rewind(point: RewindPoint): Promise<RewindResult> {
      const session = (await lockConversation(sql, conversationId))?.session ?? 0;
      const by = `${message.channel}:${message.sender.id}`;
      const lane = { id: conversationId, session };
      const result = await rewindConversation(sql, lane, point, { by, now });
      if (typeof result === 'object') for (const turn of result.turns) named.add(turn);
      return result;
    },

    /** Changes the conversation's mode; if `to` is null, only reads it. */
    changeMode: (to: ConversationMode | null) => changeMode(sql, conversationId, to),

    /** Changes the conversation's model; if `to` is null, returns to the model in the settings. */
    changeModel: (change: { readonly to: string | null } | 'show') =>
      changeModel(sql, conversationId, change),

    /**
     * Takes the plan that the given turn wrote, or the newest plan if `plan` is null. When the plan
     * runs, the command becomes the message `text`, which waits for a turn.
     */
    async runPlan(plan: string | null, text: string): Promise<PlanRunResult> {
      const found = await consumeStoredPlan(sql, conversationId, plan);
      if (found === 'runs') becomeMessage({ ...message, text, typed: message.text });
      return found;
    },

    /** Decides an approval; without a code, only lists the open approvals of this conversation. */
    async decideApproval(decision: ApprovalDecision): Promise<ApprovalVerdict> {
      const verdict = await decideApproval(sql, conversationId, decision, now);
      if (verdict.kind === 'pending') nameTurns(verdict.approvals);
      else if ('approval' in verdict) nameTurns([verdict.approval]);
      return verdict;
    },

    /** Answers a question that `ask_user` asked. */
    async answerQuestion(answer: QuestionAnswer): Promise<AnswerVerdict> {
      const verdict = await answerQuestion(sql, conversationId, answer, now);
      if ('question' in verdict) nameTurns([verdict.question]);
      return verdict;
    },

    /**
     * Resends a part in this chat that may not have been delivered. `key` is the part's idempotency
     * key; null selects the newest such part. With `senderId`, resends the part only if it answers
     * that person.
     */
    resend: (part: { readonly key: string | null; readonly senderId?: string }) =>
      resendUncertainPart(sql, { conversationId, route }, part, now),

    link: (asker: LinkRequester, action: LinkAction) => applyLink(sql, asker, action, route, now),

    /**
     * Allows the sender who received a code (null: nobody) and lists pending requests, limited to
     * strangers about whom the caller may decide.
     */
    async pair(
      code: string | null,
      isTheirs: (stranger: PairingRequest) => boolean = () => true,
    ): Promise<PairingState> {
      const theirs = (await listPendingRequests(sql, now)).filter(isTheirs);
      const isMeant = theirs.some((one) => one.code === code);
      const approved = code !== null && isMeant ? await approveRequest(sql, code, now) : null;
      const pending = theirs.filter((one) => one.code !== approved?.code);
      for (const one of [...pending, ...(approved === null ? [] : [approved])]) {
        named.add(toApplicantPersonId(one));
      }
      return { approved, pending };
    },

    /**
     * Turns the command's row into a message at the same position in the queue, with the text that
     * follows the command. `full`: the maximum number of waiting messages (`room`) has been
     * reached.
     */
    async continueWith(rest: InboundMessage, room: number): Promise<'waits' | 'full'> {
      if ((await countWaiting(sql, conversationId)) >= room) return 'full';
      becomeMessage(rest);
      insertAttachments(sql, seq, rest, now, files);
      return 'waits';
    },

    /** Adds outbox parts after the command: its answer, and notices to other chats. */
    answer(...more: readonly NewPart[]): void {
      parts.push(...more);
    },
  };
  return { transaction, parts, named };
}

/** The people whom `/pair` allowed, and the strangers who are still waiting. */
export interface PairingState {
  readonly approved: PairingRequest | null;
  readonly pending: readonly PairingRequest[];
}

/**
 * Turns a command into a message that a turn answers, because it runs a plan or a message follows
 * it.
 */
const BECOME_MESSAGE = defineStatement(
  "update inbox set state = 'waiting', outcome = null, message = :message where seq = :seq",
);
