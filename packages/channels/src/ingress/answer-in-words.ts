import { setTimeout as sleep } from 'node:timers/promises';
import { type InboundMessage, readYesOrNo, typedText } from '@parley/core';
import type { ShownQuestion } from '@parley/store';
import { approve } from '../commands/approve.ts';
import type { TypedCommand } from '../commands/command.ts';
import { deny } from '../commands/deny.ts';
import type { Identified } from './identify.ts';
import type { IngressDeps } from './ingress-deps.ts';
import { APPROVAL_CODE_LENGTH, typedCode } from './one-time-code.ts';
import { ownershipOf } from './sender.ts';

type Said = Pick<
  InboundMessage,
  'replyTo' | 'sentAt' | 'attachments' | 'chat' | 'addressed' | 'mentions'
>;

/**
 * Decides which command an approver's words stand for (G05); null when they are an ordinary
 * message. Only a bare yes or no counts, and a yes only for a question that the sender can have
 * read in full: it was sent to this chat before they wrote, nothing has changed it, and nothing
 * else that could be answered was said since (or they replied to it). In all other cases the answer
 * shows what to press; it is never silence.
 */
function decideWords(
  text: string,
  said: Said,
  questions: readonly ShownQuestion[],
): TypedCommand | null {
  if (questions.length === 0) return null;
  const { words, named } = withoutCode(text, questions);
  const meaning = named !== undefined && words === '' ? 'unclear' : readYesOrNo(words);
  if (meaning === null) return null;
  if (meaning === 'unclear' || said.attachments !== undefined || mayMeanOthers(said)) {
    return showWaiting(words === '' ? 'only' : 'kept');
  }
  const meant = named ?? findQuestion(said, questions);
  if (meant === undefined) return showWaiting('only');
  const { code } = meant.approval;
  if (meaning === 'no') return { command: deny, argument: code };
  const isRead = wasRead(meant, said, named !== undefined);
  return isRead ? { command: approve, argument: code } : showWaiting('only');
}

/** Shows the sender what to press. */
function showWaiting(spoken: 'kept' | 'only'): TypedCommand {
  return { command: approve, argument: '', spoken };
}

/**
 * The question that is replied to, or without a reply the only one. A reply to another message
 * answers that message.
 */
function findQuestion(
  { replyTo }: Said,
  questions: readonly ShownQuestion[],
): ShownQuestion | undefined {
  if (replyTo === undefined) return questions.length === 1 ? questions[0] : undefined;
  return questions.find(({ shown }) => shown?.messageId === replyTo.messageId);
}

/**
 * In a group where the bot answers without being addressed, a yes is usually meant for another
 * person, as is one with their name.
 */
function mayMeanOthers({ chat, addressed, mentions }: Said): boolean {
  return chat.type !== 'direct' && (!addressed || mentions.length > 1);
}

/** Platforms that count in seconds report the beginning of the second. In ms. */
const SECOND_MS = 1_000;

/** Whether the question was in the chat, as Parley sent it, when the sender wrote. */
function wasRead({ shown }: ShownQuestion, { replyTo, sentAt }: Said, isNamed: boolean): boolean {
  if (shown === undefined || shown.state !== 'sent' || shown.changed !== null) return false;
  if (shown.sendingAt === null) return false;
  const sentUntil = sentAt % SECOND_MS === 0 ? sentAt + SECOND_MS - 1 : sentAt;
  if (sentUntil < shown.sendingAt) return false;
  if (replyTo !== undefined) return replyTo.messageId === shown.messageId;
  return shown.isLast || isNamed;
}

/** Removes the code of a pending question from the words: "yes ABC234" names it. */
function withoutCode(
  text: string,
  questions: readonly ShownQuestion[],
): { readonly words: string; readonly named: ShownQuestion | undefined } {
  let named: ShownQuestion | undefined;
  // Line breaks are kept, because they end a quotation.
  const words = text.replace(/\S+/g, (word) => {
    const code = typedCode(word, APPROVAL_CODE_LENGTH);
    const found = code === null ? undefined : questions.find((one) => one.approval.code === code);
    named ??= found;
    return found === undefined ? word : '';
  });
  return { words: words.trim(), named };
}

/**
 * Only the beginning of longer texts is read, so nothing more is examined before the database is
 * asked.
 */
const MAX_TEXT = 4_000;
/** A question that is being sent arrives in a moment. In ms. */
const POLL_INTERVAL_MS = 200;
const MAX_POLLS = 10;

/**
 * The command that a message in words stands for, and whether its sender is an owner, which decides
 * their rights.
 */
export interface SpokenCommand {
  readonly command: TypedCommand;
  readonly isOwner: boolean;
}

/**
 * Reads a yes or no that an approver typed in words; null when it is an ordinary message. The
 * database is asked only when a message can be one, so that others cost nothing. Text that its
 * sender did not type (forwarded, quoted, from bots and programs) decides nothing.
 */
export async function answerInWords(
  deps: IngressDeps,
  { admitted: { message, conversationId }, rights, rules }: Identified,
): Promise<SpokenCommand | null> {
  const text = spokenText(message);
  if (message.replaces !== undefined || text === '' || text.length > MAX_TEXT) return null;
  if (readYesOrNo(text) === null && typedCode(text, APPROVAL_CODE_LENGTH) === null) return null;
  // In a direct chat, the sender's linked accounts were looked up already.
  const isOwner =
    rights.isOwner ||
    (message.chat.type !== 'direct' &&
      (await ownershipOf(deps.store.links, rules.owners, rights.person)).isOwner);
  if (!isOwner && rules.approvers?.includes(rights.person) !== true) return null;
  const questions = await questionsFor(deps, conversationId, message);
  const command = decideWords(text, message, questions);
  return command === null ? null : { command, isOwner };
}

/** The pending questions of a chat; waits for a question that is being sent. */
async function questionsFor(
  { store, clock }: Pick<IngressDeps, 'store' | 'clock'>,
  conversationId: string,
  message: InboundMessage,
): Promise<readonly ShownQuestion[]> {
  for (let polls = 1; ; polls += 1) {
    const questions = await store.shownQuestions.openIn(conversationId, message, clock());
    const isOnItsWay = questions.some(({ shown }) => shown?.state === 'sending');
    if (!isOnItsWay || polls === MAX_POLLS) return questions;
    await sleep(POLL_INTERVAL_MS);
  }
}

/** The typed text without the mention that groups need to address the bot. */
function spokenText(message: InboundMessage): string {
  const typed = typedText(message).trim();
  if (message.mentions.length === 0) return typed;
  // Removes only one mention: a second one names another person, whom platforms do not always list.
  const own = typed.replace(/^<?@\S+\s+/, '');
  return (own === typed ? typed.replace(/\s+<?@\S+$/, '') : own).trim();
}
