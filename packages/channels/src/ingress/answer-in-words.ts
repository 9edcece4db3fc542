import { setTimeout as sleep } from 'node:timers/promises';
import { getTypedText, type InboundMessage, parseYesOrNo } from '@parley/core';
import type { OpenQuestionView } from '@parley/store';
import { approve } from '../commands/approve.ts';
import type { TypedCommand } from '../commands/command.ts';
import { deny } from '../commands/deny.ts';
import type { IdentifiedMessage } from './identify.ts';
import type { IngressDeps } from './ingress-deps.ts';
import { APPROVAL_CODE_LENGTH, parseTypedCode } from './one-time-code.ts';
import { findOwnership } from './sender.ts';

type TypedReply = Pick<
  InboundMessage,
  'replyTo' | 'sentAt' | 'attachments' | 'chat' | 'addressed' | 'mentions'
>;

/**
 * Decides which command an approver's text is equivalent to (G05); null when the text is an
 * ordinary message. Only a bare yes or no counts, and a yes only for a question that the sender
 * could read in full. The question must have been sent to this chat before the yes and not have
 * been changed since, and the yes must not possibly refer to a later text (unless it is a reply to
 * the question). In all other cases, the answer shows which button to press.
 */
function decideTypedReply(
  text: string,
  said: TypedReply,
  questions: readonly OpenQuestionView[],
): TypedCommand | null {
  if (questions.length === 0) return null;
  const { words, named } = stripQuestionCode(text, questions);
  const meaning = named !== undefined && words === '' ? 'unclear' : parseYesOrNo(words);
  if (meaning === null) return null;
  if (meaning === 'unclear' || said.attachments !== undefined || mayAddressOthers(said)) {
    return createShowWaitingCommand(words === '' ? 'only' : 'kept');
  }
  const meant = named ?? findQuestion(said, questions);
  if (meant === undefined) return createShowWaitingCommand('only');
  const { code } = meant.approval;
  if (meaning === 'no') return { command: deny, argument: code };
  const isRead = wasQuestionVisible(meant, said, named !== undefined);
  return isRead ? { command: approve, argument: code } : createShowWaitingCommand('only');
}

function createShowWaitingCommand(spoken: 'kept' | 'only'): TypedCommand {
  return { command: approve, argument: '', spoken };
}

/**
 * The question that the message replies to, or the only pending question if the message is not a
 * reply. A reply to another message is not an answer to a question.
 */
function findQuestion(
  { replyTo }: TypedReply,
  questions: readonly OpenQuestionView[],
): OpenQuestionView | undefined {
  if (replyTo === undefined) return questions.length === 1 ? questions[0] : undefined;
  return questions.find(({ shown }) => shown?.messageId === replyTo.messageId);
}

/**
 * In a group where the bot answers without being addressed, a yes is usually meant for someone
 * else, and so is a yes that mentions another person.
 */
function mayAddressOthers({ chat, addressed, mentions }: TypedReply): boolean {
  return chat.type !== 'direct' && (!addressed || mentions.length > 1);
}

/** Platforms that count in whole seconds round the time down. */
const SECOND_MS = 1_000;

/** Whether the question was visible in the chat, unchanged, when the sender wrote. */
function wasQuestionVisible(
  { shown }: OpenQuestionView,
  { replyTo, sentAt }: TypedReply,
  isNamed: boolean,
): boolean {
  if (shown === undefined || shown.state !== 'sent' || shown.changed !== null) return false;
  if (shown.sendingAt === null) return false;
  const sentUntil = sentAt % SECOND_MS === 0 ? sentAt + SECOND_MS - 1 : sentAt;
  if (sentUntil < shown.sendingAt) return false;
  if (replyTo !== undefined) return replyTo.messageId === shown.messageId;
  return shown.isLast || isNamed;
}

/** Removes the code of a pending question from the text: "yes ABC234" names that question. */
function stripQuestionCode(
  text: string,
  questions: readonly OpenQuestionView[],
): { readonly words: string; readonly named: OpenQuestionView | undefined } {
  let named: OpenQuestionView | undefined;
  // Line breaks are kept, because a line break ends a quotation.
  const words = text.replace(/\S+/g, (word) => {
    const code = parseTypedCode(word, APPROVAL_CODE_LENGTH);
    const found = code === null ? undefined : questions.find((one) => one.approval.code === code);
    named ??= found;
    return found === undefined ? word : '';
  });
  return { words: words.trim(), named };
}

/**
 * Only the beginning of a longer text is parsed, to keep the check cheap before the database is
 * queried.
 */
const MAX_TEXT = 4_000;
/** A question in `sending` arrives within moments. */
const POLL_INTERVAL_MS = 200;
const MAX_POLLS = 10;

/**
 * The command that a typed message is equivalent to, and whether its sender is an owner, which
 * determines their rights.
 */
export interface SpokenCommand {
  readonly command: TypedCommand;
  readonly isOwner: boolean;
}

/**
 * Recognizes a typed yes or no of an approver; null when the message is ordinary. The database is
 * queried only for messages that can be an answer, so other messages do not cost a query. Text that
 * its sender did not type (forwarded, quoted, from bots and programs) does not decide a question.
 */
export async function recognizeSpokenCommand(
  deps: IngressDeps,
  { admitted: { message, conversationId }, rights, rules }: IdentifiedMessage,
): Promise<SpokenCommand | null> {
  const text = getSpokenText(message);
  if (message.replaces !== undefined || text === '' || text.length > MAX_TEXT) return null;
  if (parseYesOrNo(text) === null && parseTypedCode(text, APPROVAL_CODE_LENGTH) === null)
    return null;
  // In a direct chat, the sender's linked accounts have already been looked up.
  const isOwner =
    rights.isOwner ||
    (message.chat.type !== 'direct' &&
      (await findOwnership(deps.store.links, rules.owners, rights.person)).isOwner);
  if (!isOwner && rules.approvers?.includes(rights.person) !== true) return null;
  const questions = await listQuestions(deps, conversationId, message);
  const command = decideTypedReply(text, message, questions);
  return command === null ? null : { command, isOwner };
}

/** The pending questions of a chat; waits for a question that is still being sent. */
async function listQuestions(
  { store, clock }: Pick<IngressDeps, 'store' | 'clock'>,
  conversationId: string,
  message: InboundMessage,
): Promise<readonly OpenQuestionView[]> {
  for (let polls = 1; ; polls += 1) {
    const questions = await store.shownQuestions.openIn(conversationId, message, clock());
    const isOnItsWay = questions.some(({ shown }) => shown?.state === 'sending');
    if (!isOnItsWay || polls === MAX_POLLS) return questions;
    await sleep(POLL_INTERVAL_MS);
  }
}

/** The typed text without the mention that groups require to address the bot. */
function getSpokenText(message: InboundMessage): string {
  const typed = getTypedText(message).trim();
  if (message.mentions.length === 0) return typed;
  // Removes only one mention: a second mention names another person, and platforms do not always
  // list mentions.
  const own = typed.replace(/^<?@\S+\s+/, '');
  return (own === typed ? typed.replace(/\s+<?@\S+$/, '') : own).trim();
}
