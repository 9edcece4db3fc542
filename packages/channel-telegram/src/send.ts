import {
  type AdapterValues,
  ChannelError,
  type OutboundFile,
  type OutboundPart,
  type Receipt,
  reasonOf,
} from '@parley/core';
import type { TelegramApi } from './api.ts';
import { aloneOn, aloneParameters, firstWay, sentAloneId } from './ephemeral.ts';
import {
  type Attempt,
  type CallFailure,
  callFailureOf,
  nextAttempt,
  telegramSendError,
} from './failures.ts';
import { DOCUMENT, fileMethodOf, openUpload } from './files.ts';
import {
  fitsCaption,
  keyboardOf,
  MAX_CAPTION,
  plainPartText,
  replyTo,
  richContent,
} from './format.ts';
import type { Grown } from './growing.ts';
import { answerGuest } from './guest.ts';
import { createMessageCapability } from './messages.ts';
import type { MovedChats } from './moved-chats.ts';
import { messageIdIn, placeFields, placeOfThread } from './places.ts';

/** `note` reports to operators. */
interface SendDeps {
  readonly api: Pick<TelegramApi, 'send'>;
  readonly moved: MovedChats;
  readonly linkPreviews: boolean;
  readonly note: (facts: object, message: string) => void;
  /** Called before the first byte of a message leaves. */
  readonly onStart?: (() => void) | undefined;
}

/** One call of the Bot API. */
interface Call {
  readonly method: string;
  readonly payload: object;
}

/** The additional services of sending a part that replaces a growing answer. */
interface SendPartDeps extends SendFileDeps {
  readonly api: Pick<TelegramApi, 'send' | 'call'>;
  /** Called once the grown message is not there any more. */
  readonly forget: (turnId: string) => Promise<void>;
}

/** Sends one part: changes the message that has grown in its place, if there is one. @throws ChannelError */
export async function sendPart(
  deps: SendPartDeps,
  part: OutboundPart,
  signal: AbortSignal,
  grown?: Grown,
): Promise<Receipt> {
  if (grown !== undefined) {
    const receipt = canGrow(part)
      ? await finishGrown(deps, part, grown, signal)
      : await removeGrown(deps, part, grown, signal);
    if (receipt !== undefined) return receipt;
    // A grown message belongs to a turn.
    await deps.forget(part.turnId ?? '');
  }
  const place = placeOfThread(part.route.threadId);
  if (place.kind === 'guest') return answerGuest(deps, part, place.query, signal);
  return part.file ? sendFile(deps, part, part.file, signal) : sendText(deps, part, signal);
}

/** Whether a text that was shown earlier can become this part: an edit notifies nobody and brings no file. */
export function canGrow({ file, body, route }: OutboundPart): boolean {
  const notifies = route.target.mentions === 'live' && /@\w|tg:\/\/user/.test(body.text);
  return file === undefined && !notifies;
}

const NOT_TO_BE_EDITED = /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i;

/**
 * Changes what has grown into the part; it may be done again, so `onStart` is not called. Undefined where it is
 * not there any more: somebody deleted it, or the group has just become a supergroup.
 */
export async function finishGrown(
  { api, moved, linkPreviews }: Pick<SendPartDeps, 'api' | 'moved' | 'linkPreviews'>,
  { route: { chatId }, body, buttons }: OutboundPart,
  { number, text }: Grown,
  signal: AbortSignal,
): Promise<Receipt | undefined> {
  const platformMessageId = moved.idOf(chatId, String(number));
  const isShown = text === body.text.trim() && buttons === undefined && body.rich === undefined;
  const messages = createMessageCapability({ api, moved }, linkPreviews, signal);
  try {
    const keyboard = keyboardOf(buttons);
    if (!isShown) await messages.edit({ chatId }, platformMessageId, body, keyboard);
    return { platformMessageId };
  } catch (thrown) {
    const failure = callFailureOf(thrown instanceof ChannelError ? thrown.cause : thrown);
    if (failure.kind !== 'refused') throw thrown;
    if (failure.migrateTo !== undefined || NOT_TO_BE_EDITED.test(failure.reason)) return undefined;
    throw thrown;
  }
}

/** First what has grown goes, then the part comes: a crash in between leaves nothing twice. */
async function removeGrown(
  { api, moved, linkPreviews, note }: SendPartDeps,
  { id, route: { chatId } }: OutboundPart,
  { number }: Grown,
  signal: AbortSignal,
): Promise<undefined> {
  const messages = createMessageCapability({ api, moved }, linkPreviews, signal);
  try {
    await messages.delete({ chatId }, moved.idOf(chatId, String(number)));
  } catch (thrown) {
    if (thrown instanceof ChannelError && thrown.retryable) throw thrown;
    note({ part: id, chatId, reason: reasonOf(thrown) }, 'what had grown could not be deleted');
  }
}

async function sendText(deps: SendDeps, part: OutboundPart, signal: AbortSignal): Promise<Receipt> {
  const previews = deps.linkPreviews ? {} : { link_preview_options: { is_disabled: true } };
  const keyboard = keyboardOf(part.buttons);
  const make = (attempt: Attempt): Call => {
    const place = { ...destinationOf(deps, part, attempt), ...keyboard };
    if (attempt.rich !== undefined)
      return { method: 'sendRichMessage', payload: { ...richContent(attempt.rich), ...place } };
    const text = attempt.html ? part.body.text : plainPartText(part.body);
    return {
      method: 'sendMessage',
      payload: { text, ...markupOf(attempt), ...previews, ...place },
    };
  };
  const { rich } = part.body;
  return sendCall(deps, part, make, signal, rich === undefined ? {} : { rich });
}

/**
 * Chat, topic and the message to quote; in a chat that has moved the question has another number. An answer to an
 * ephemeral message is for its sender alone.
 */
function destinationOf(
  { moved }: Pick<SendDeps, 'moved'>,
  { route }: OutboundPart,
  { chatId, alone: way }: Attempt,
): object {
  const alone = aloneOn(route);
  if (alone !== undefined && way !== undefined) {
    const place = way === 'direct' ? { chat_id: alone.to } : { chat_id: chatId };
    const topic = way === 'direct' ? {} : placeFields(route.threadId);
    return { ...place, ...topic, ...aloneParameters(alone, way) };
  }
  const id = route.replyToMessageId;
  const isThere = id !== undefined && moved.isThere(route.chatId, id);
  const quoted = isThere && chatId === route.chatId ? id : undefined;
  return { chat_id: chatId, ...placeFields(route.threadId), ...replyTo(quoted) };
}

/** The parse mode of an attempt. */
function markupOf({ html }: Attempt): { parse_mode?: 'HTML' } {
  return html ? { parse_mode: 'HTML' } : {};
}

/**
 * Makes one message. Refusals that another form goes round are met by sending once more, which
 * repeats nothing because Telegram sent nothing. Throws only `ChannelError`.
 */
async function sendCall(
  { api, moved, note, onStart }: SendDeps,
  part: OutboundPart,
  make: (attempt: Attempt) => Call,
  signal: AbortSignal,
  form: Pick<Attempt, 'rich'> = {},
): Promise<Receipt> {
  const { chatId } = part.route;
  const alone = aloneOn(part.route);
  let attempt: Attempt = {
    ...{ chatId, html: true, asDocument: false },
    ...form,
    ...(alone && { alone: firstWay(alone) }),
  };
  for (;;) {
    if (signal.aborted) throw notStarted(chatId);
    const { method, payload } = make(attempt);
    try {
      const messageId = await api.send(method, payload, signal, onStart);
      if (attempt.alone !== undefined)
        return { platformMessageId: sentAloneId(messageId, attempt.alone) };
      const id = messageIdIn(part.route.threadId, messageId);
      return { platformMessageId: moved.idOf(chatId, id) };
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      const next = nextAttempt(attempt, failure);
      if (next === undefined && attempt.alone !== undefined && failure.kind === 'refused')
        throw notShownAlone(failure, attempt, thrown);
      if (next === undefined) throw telegramSendError(failure, attempt.chatId, thrown);
      note({ part: part.id, chatId, reason: failure.reason }, next.because);
      if (next.attempt.chatId !== attempt.chatId) await moved.note(chatId, next.attempt.chatId);
      attempt = next.attempt;
    }
  }
}

/** A rate and a refused account concern the connection; anything else is final for this answer, and not for its group. */
function notShownAlone(
  failure: Extract<CallFailure, { readonly kind: 'refused' }>,
  { chatId }: Attempt,
  cause: unknown,
): ChannelError {
  if (![400, 403].includes(failure.code)) return telegramSendError(failure, chatId, cause);
  const why = `Telegram shows it neither in the group nor in their direct chat: ${failure.reason}`;
  return new ChannelError({ kind: 'refused' }, `A private answer is not sent: ${why}.`, cause);
}

function notStarted(chatId: string): ChannelError {
  return new ChannelError(
    { kind: 'transient' },
    `Telegram chat ${chatId}: stopped before sending.`,
  );
}

/** The additional services of sending files. */
interface SendFileDeps extends SendDeps {
  readonly maxFileBytes: number;
  readonly values: AdapterValues;
}

const FILE_SENT = 'file-sent';

/**
 * Sends a file with the text of its part below it. A text too long for that follows as a message of
 * its own. That the file has arrived is remembered in between: when the text has to wait or is
 * tried again, the file does not go out twice. Throws only `ChannelError`.
 */
async function sendFile(
  deps: SendFileDeps,
  part: OutboundPart,
  file: OutboundFile,
  signal: AbortSignal,
): Promise<Receipt> {
  if (fitsCaption(part.body)) return uploadFile(deps, part, file, signal);
  // What is wrong with the buttons must be known before the file is out.
  keyboardOf(part.buttons);
  const sent = await deps.values.get(FILE_SENT, [part.id]);
  if (!sent.has(part.id)) await sendFirst(deps, part, file, signal);
  try {
    const receipt = await sendText(deps, part, signal);
    await removeSentFileNote(deps, part);
    return receipt;
  } catch (thrown) {
    if (!(thrown instanceof ChannelError && thrown.retryable)) await removeSentFileNote(deps, part);
    throw thrown;
  }
}

async function sendFirst(
  deps: SendFileDeps,
  part: OutboundPart,
  file: OutboundFile,
  signal: AbortSignal,
): Promise<void> {
  const { buttons: _below, ...bare } = part;
  const silent = { ...bare, body: { text: '', plain: '' } };
  const { platformMessageId } = await uploadFile(deps, silent, file, signal);
  try {
    await deps.values.set([{ kind: FILE_SENT, id: part.id, value: platformMessageId }]);
  } catch (error) {
    const reason = `the file has arrived, but not its text: ${reasonOf(error)}`;
    throw new ChannelError({ kind: 'unknown-outcome' }, `${file.name}: ${reason}.`, error);
  }
}

/** Forgets the state of a part. A failure leaves one row that is not read again. */
async function removeSentFileNote(
  { values, note }: SendFileDeps,
  part: OutboundPart,
): Promise<void> {
  try {
    await values.set([{ kind: FILE_SENT, id: part.id, value: null }]);
  } catch (error) {
    note({ part: part.id, reason: reasonOf(error) }, 'a note about a sent file stays behind');
  }
}

async function uploadFile(
  deps: SendFileDeps,
  part: OutboundPart,
  file: OutboundFile,
  signal: AbortSignal,
): Promise<Receipt> {
  const media = await openUpload(file, deps.maxFileBytes);
  const make = (attempt: Attempt): Call => {
    const { method, field } = attempt.asDocument ? DOCUMENT : fileMethodOf(file, media.size);
    const caption = attempt.html ? part.body.text : plainPartText(part.body, MAX_CAPTION);
    const payload = {
      ...destinationOf(deps, part, attempt),
      ...(caption === '' ? {} : { caption, ...markupOf(attempt) }),
      ...keyboardOf(part.buttons),
      [field]: media,
    };
    return { method, payload };
  };
  return sendCall(deps, part, make, signal);
}
