import type { InboundMessage } from '@parley/core';
import {
  APPROVAL_COLUMNS,
  type Approval,
  type ApprovalRow,
  readApprovalRow,
} from './approval-rows.ts';
import { releaseTurns } from './approvals.ts';
import { defineStatement, type Sql } from './database.ts';
import { matchChoice } from './match-choice.ts';
import type { InboxRow, JournalStep } from './rows.ts';
import { storeStep } from './turns.ts';

/** The result of `/answer`. `others`: the question was meant for another person. */
export type AnswerVerdict =
  | { readonly kind: 'answered' | 'closed'; readonly question: Approval }
  | { readonly kind: 'others' | 'elsewhere' | 'unknown' };

/** An answer as pressed or typed; `text` is null if the question was skipped. */
export interface QuestionAnswer {
  readonly code: string;
  /** `telegram:42`. */
  readonly by: string;
  readonly text: string;
}

/**
 * Answers a question that `ask_user` asked (table `approval`) with a command: once, in the
 * conversation where it was asked, and only by the person who was asked.
 */
export async function answerQuestion(
  sql: Sql,
  conversationId: string,
  { code, by, text }: QuestionAnswer,
  now: number,
): Promise<AnswerVerdict> {
  const row = await sql.get(BY_CODE, { code });
  if (row === undefined) return { kind: 'unknown' };
  const question = readApprovalRow(row);
  if (question.askedIn !== conversationId) return { kind: 'elsewhere' };
  if (question.askedBy !== by) return { kind: 'others' };
  const answer = resolveChoice(text, question.choices ?? []);
  const answered = await sql.get(ANSWER, { code, answer, by, now });
  if (answered === undefined) return { kind: 'closed', question };
  releaseTurns(sql, [answered]);
  return { kind: 'answered', question: readApprovalRow(answered) };
}

/** Finds the open question that a turn waits for; null if the turn waits for an approval. */
export async function findOpenQuestion(
  sql: Sql,
  code: string,
  now: number,
): Promise<Approval | null> {
  const row = await sql.get(OPEN, { code, now });
  return row === undefined ? null : readApprovalRow(row);
}

/**
 * Whether a waiting message answers a question: the person who was asked wrote it after the
 * question, and it is neither a command nor text that follows a command, as in `/new plan a
 * picnic`.
 */
export function isAnswerToQuestion(
  { askedBy, askedAt }: Pick<Approval, 'askedBy' | 'askedAt'>,
  { message, receivedAt }: Pick<InboxRow, 'message' | 'receivedAt'>,
): boolean {
  const isCommand = message.typed !== undefined || /^\s*[/／]/.test(message.text);
  return (
    senderKey(message) === askedBy &&
    receivedAt >= askedAt &&
    message.trigger === undefined &&
    !isCommand
  );
}

/**
 * Answers a question with messages from the person who was asked; the messages join the turn (D03).
 * Messages with files get a separate turn afterwards, which the answer mentions.
 */
export async function answerWithMessages(
  sql: Sql,
  { code, turnId, choices, askedBy: by }: Approval,
  rows: readonly InboxRow[],
  now: number,
): Promise<void> {
  const hasFiles = rows.some(({ message }) => message.attachments !== undefined);
  const text = rows.map(({ message }) => message.text).join('\n');
  const answer = hasFiles ? SENT_FILES : resolveChoice(text, choices ?? []);
  const answered = await sql.get(ANSWER, { code, answer, by, now });
  if (answered === undefined) return;
  releaseTurns(sql, [answered]);
  if (hasFiles) return;
  for (const { seq } of rows) sql.send(JOIN, { seq, turnId, now });
  const last = await sql.get(LAST_STEP, { turnId });
  await storeStep(sql, turnId, toJoinedStep((last?.index ?? -1) + 1, rows), now);
}

/** The answer when a person sent files instead of text. */
export const SENT_FILES = '(They sent files, which are answered after this.)';

/** Builds the journal step that records which messages joined a turn after all earlier steps. */
export function toJoinedStep(index: number, rows: readonly Pick<InboxRow, 'seq'>[]) {
  const content = { kind: 'joined' as const, messages: rows.map(({ seq }) => seq) };
  return { index, content } satisfies JournalStep;
}

/**
 * Returns the choice that a text refers to, or the text itself; null if the question was skipped.
 */
function resolveChoice(text: string, choices: readonly string[]): string | null {
  const typed = text.trim();
  if (/^["'“„(]?\/?skip["'”“)]?[.!]?$/i.test(typed)) return null;
  return matchChoice(typed, choices) ?? typed;
}

const senderKey = ({ channel, sender }: InboundMessage): string => `${channel}:${sender.id}`;

const BY_CODE = defineStatement(`
  select ${APPROVAL_COLUMNS} from approval
  where code = :code and choices is not null`).rows<ApprovalRow>();

const OPEN = defineStatement(`
  select ${APPROVAL_COLUMNS} from approval
  where code = :code and choices is not null and state = 'pending' and expires_at > :now`).rows<ApprovalRow>();

const ANSWER = defineStatement(`
  update approval set state = 'answered', answer = :answer, decided_by = :by, decided_at = :now
  where code = :code and state = 'pending' and expires_at > :now
  returning ${APPROVAL_COLUMNS}`).rows<ApprovalRow>();

const JOIN = defineStatement(`
  update inbox set state = 'claimed', turn_id = :turnId, claimed_at = :now
  where seq = :seq and state = 'waiting'`);

const LAST_STEP = defineStatement(
  'select max(step_index) as "index" from turn_step where turn_id = :turnId',
).rows<{ readonly index: number | null }>();
