import {
  type AdapterValues,
  ChannelError,
  type OutboundFile,
  type OutboundPart,
  type Receipt,
  reasonOf,
} from '@parley/core';
import type { TelegramApi } from './api.ts';
import {
  findSoleRecipient,
  formatEphemeralSentId,
  selectFirstMethod,
  toEphemeralParameters,
} from './ephemeral.ts';
import {
  type CallFailure,
  planNextAttempt,
  type SendAttempt,
  toCallFailure,
  toTelegramSendError,
} from './failures.ts';
import { DOCUMENT, openUpload, selectFileMethod } from './files.ts';
import {
  fitsCaption,
  MAX_CAPTION,
  toKeyboard,
  toPlainPartText,
  toReplyParameters,
  toRichContent,
} from './format.ts';
import type { FinalizedMessage } from './growing.ts';
import { answerGuest } from './guest.ts';
import { createMessageCapability } from './messages.ts';
import type { MovedChatRegistry } from './moved-chats.ts';
import { formatMessageId, parseThreadId, toRequestFields } from './places.ts';

/** The dependencies of sending; `note` reports to operators. */
interface SendDeps {
  readonly api: Pick<TelegramApi, 'send'>;
  readonly moved: MovedChatRegistry;
  readonly linkPreviews: boolean;
  readonly note: (facts: object, message: string) => void;
  /** Called before the first byte of a message is sent. */
  readonly onStart?: (() => void) | undefined;
}

/** One call of the Bot API. */
interface ApiCall {
  readonly method: string;
  readonly payload: object;
}

/** The additional dependencies for sending a message part that replaces a growing answer. */
interface SendPartDeps extends SendFileDeps {
  readonly api: Pick<TelegramApi, 'send' | 'call'>;
  /** Called when the grown message no longer exists. */
  readonly forget: (turnId: string) => Promise<void>;
}

/**
 * Sends one message part, or edits the message that has grown for it.
 * @throws ChannelError
 */
export async function sendPart(
  deps: SendPartDeps,
  part: OutboundPart,
  signal: AbortSignal,
  grown?: FinalizedMessage,
): Promise<Receipt> {
  if (grown !== undefined) {
    const receipt = canEditIntoPart(part)
      ? await finalizeGrowingMessage(deps, part, grown, signal)
      : await removeGrowingMessage(deps, part, grown, signal);
    if (receipt !== undefined) return receipt;
    // A grown message always belongs to a turn.
    await deps.forget(part.turnId ?? '');
  }
  const place = parseThreadId(part.route.threadId);
  if (place.kind === 'guest') return answerGuest(deps, part, place.query, signal);
  return part.file ? sendFile(deps, part, part.file, signal) : sendText(deps, part, signal);
}

/**
 * Whether an existing message can be edited into the part. An edit notifies nobody and cannot add a
 * file.
 */
export function canEditIntoPart({ file, body, route }: OutboundPart): boolean {
  const notifies = route.target.mentions === 'live' && /@\w|tg:\/\/user/.test(body.text);
  return file === undefined && !notifies;
}

const NOT_TO_BE_EDITED = /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i;

/**
 * Edits the grown message into the part. The edit is safe to retry, so `onStart` is not called.
 * Returns undefined when the message no longer exists: it was deleted, or the group has just become
 * a supergroup.
 */
export async function finalizeGrowingMessage(
  { api, moved, linkPreviews }: Pick<SendPartDeps, 'api' | 'moved' | 'linkPreviews'>,
  { route: { chatId }, body, buttons }: OutboundPart,
  { number, text }: FinalizedMessage,
  signal: AbortSignal,
): Promise<Receipt | undefined> {
  const platformMessageId = moved.idOf(chatId, String(number));
  const isShown = text === body.text.trim() && buttons === undefined && body.rich === undefined;
  const messages = createMessageCapability({ api, moved }, linkPreviews, signal);
  try {
    const keyboard = toKeyboard(buttons);
    if (!isShown) await messages.edit({ chatId }, platformMessageId, body, keyboard);
    return { platformMessageId };
  } catch (thrown) {
    const failure = toCallFailure(thrown instanceof ChannelError ? thrown.cause : thrown);
    if (failure.kind !== 'refused') throw thrown;
    if (failure.migrateTo !== undefined || NOT_TO_BE_EDITED.test(failure.reason)) return undefined;
    throw thrown;
  }
}

/**
 * Deletes the grown message before the part is sent, so that a crash between the two leaves no
 * duplicate.
 */
async function removeGrowingMessage(
  { api, moved, linkPreviews, note }: SendPartDeps,
  { id, route: { chatId } }: OutboundPart,
  { number }: FinalizedMessage,
  signal: AbortSignal,
): Promise<undefined> {
  const messages = createMessageCapability({ api, moved }, linkPreviews, signal);
  try {
    await messages.delete({ chatId }, moved.idOf(chatId, String(number)));
  } catch (thrown) {
    if (thrown instanceof ChannelError && thrown.retryable) throw thrown;
    note({ part: id, chatId, reason: reasonOf(thrown) }, 'a growing message could not be deleted');
  }
}

async function sendText(deps: SendDeps, part: OutboundPart, signal: AbortSignal): Promise<Receipt> {
  const previews = deps.linkPreviews ? {} : { link_preview_options: { is_disabled: true } };
  const keyboard = toKeyboard(part.buttons);
  const make = (attempt: SendAttempt): ApiCall => {
    const place = { ...toDestination(deps, part, attempt), ...keyboard };
    if (attempt.rich !== undefined)
      return { method: 'sendRichMessage', payload: { ...toRichContent(attempt.rich), ...place } };
    const text = attempt.html ? part.body.text : toPlainPartText(part.body);
    return {
      method: 'sendMessage',
      payload: { text, ...toMarkup(attempt), ...previews, ...place },
    };
  };
  const { rich } = part.body;
  return sendCall(deps, part, make, signal, rich === undefined ? {} : { rich });
}

/**
 * The chat, the topic and the message to quote. In a chat that has moved, the question has a
 * different number. An answer to an ephemeral message goes only to its sender.
 */
function toDestination(
  { moved }: Pick<SendDeps, 'moved'>,
  { route }: OutboundPart,
  { chatId, alone: way }: SendAttempt,
): object {
  const alone = findSoleRecipient(route);
  if (alone !== undefined && way !== undefined) {
    const place = way === 'direct' ? { chat_id: alone.to } : { chat_id: chatId };
    const topic = way === 'direct' ? {} : toRequestFields(route.threadId);
    return { ...place, ...topic, ...toEphemeralParameters(alone, way) };
  }
  const id = route.replyToMessageId;
  const isThere = id !== undefined && moved.isThere(route.chatId, id);
  const quoted = isThere && chatId === route.chatId ? id : undefined;
  return { chat_id: chatId, ...toRequestFields(route.threadId), ...toReplyParameters(quoted) };
}

function toMarkup({ html }: SendAttempt): { parse_mode?: 'HTML' } {
  return html ? { parse_mode: 'HTML' } : {};
}

/**
 * Sends one message. After a refusal that another form avoids, the message is tried again; this
 * cannot create a duplicate, because Telegram sent nothing. Rejects only with a `ChannelError`.
 */
async function sendCall(
  { api, moved, note, onStart }: SendDeps,
  part: OutboundPart,
  make: (attempt: SendAttempt) => ApiCall,
  signal: AbortSignal,
  form: Pick<SendAttempt, 'rich'> = {},
): Promise<Receipt> {
  const { chatId } = part.route;
  const alone = findSoleRecipient(part.route);
  let attempt: SendAttempt = {
    ...{ chatId, html: true, asDocument: false },
    ...form,
    ...(alone && { alone: selectFirstMethod(alone) }),
  };
  for (;;) {
    if (signal.aborted) throw createNotStartedError(chatId);
    const { method, payload } = make(attempt);
    try {
      const messageId = await api.send(method, payload, signal, onStart);
      if (attempt.alone !== undefined)
        return { platformMessageId: formatEphemeralSentId(messageId, attempt.alone) };
      const id = formatMessageId(part.route.threadId, messageId);
      return { platformMessageId: moved.idOf(chatId, id) };
    } catch (thrown) {
      const failure = toCallFailure(thrown);
      const next = planNextAttempt(attempt, failure);
      if (next === undefined && attempt.alone !== undefined && failure.kind === 'refused')
        throw createEphemeralError(failure, attempt, thrown);
      if (next === undefined) throw toTelegramSendError(failure, attempt.chatId, thrown);
      note({ part: part.id, chatId, reason: failure.reason }, next.because);
      if (next.attempt.chatId !== attempt.chatId) await moved.note(chatId, next.attempt.chatId);
      attempt = next.attempt;
    }
  }
}

/**
 * Rate limits and refused tokens affect the whole connection. Any other refusal is final for this
 * private answer, but does not affect its group.
 */
function createEphemeralError(
  failure: Extract<CallFailure, { readonly kind: 'refused' }>,
  { chatId }: SendAttempt,
  cause: unknown,
): ChannelError {
  if (![400, 403].includes(failure.code)) return toTelegramSendError(failure, chatId, cause);
  const why = `Telegram can show it neither in the group nor in their direct chat: ${failure.reason}`;
  return new ChannelError({ kind: 'refused' }, `A private answer was not sent: ${why}.`, cause);
}

function createNotStartedError(chatId: string): ChannelError {
  return new ChannelError(
    { kind: 'transient' },
    `Telegram chat ${chatId}: stopped before sending.`,
  );
}

/** The additional dependencies for sending files. */
interface SendFileDeps extends SendDeps {
  readonly maxFileBytes: number;
  readonly values: AdapterValues;
}

const FILE_SENT = 'file-sent';

/**
 * Sends a file with the text of its part as the caption. A text too long for a caption follows as a
 * separate message. The file is recorded as sent before the text follows, so that it is not sent
 * twice if the text is delayed or retried. Rejects only with a `ChannelError`.
 */
async function sendFile(
  deps: SendFileDeps,
  part: OutboundPart,
  file: OutboundFile,
  signal: AbortSignal,
): Promise<Receipt> {
  if (fitsCaption(part.body)) return uploadFile(deps, part, file, signal);
  // Invalid buttons must be detected before the file is sent.
  toKeyboard(part.buttons);
  const sent = await deps.values.get(FILE_SENT, [part.id]);
  if (!sent.has(part.id)) await sendFileBeforeText(deps, part, file, signal);
  try {
    const receipt = await sendText(deps, part, signal);
    await removeSentFileRecord(deps, part);
    return receipt;
  } catch (thrown) {
    if (!(thrown instanceof ChannelError && thrown.retryable))
      await removeSentFileRecord(deps, part);
    throw thrown;
  }
}

async function sendFileBeforeText(
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

/** Deletes the record of a sent file. If that fails, a row remains that is never read again. */
async function removeSentFileRecord(
  { values, note }: SendFileDeps,
  part: OutboundPart,
): Promise<void> {
  try {
    await values.set([{ kind: FILE_SENT, id: part.id, value: null }]);
  } catch (error) {
    note(
      { part: part.id, reason: reasonOf(error) },
      'the record of a sent file could not be deleted',
    );
  }
}

async function uploadFile(
  deps: SendFileDeps,
  part: OutboundPart,
  file: OutboundFile,
  signal: AbortSignal,
): Promise<Receipt> {
  const media = await openUpload(file, deps.maxFileBytes);
  const make = (attempt: SendAttempt): ApiCall => {
    const { method, field } = attempt.asDocument ? DOCUMENT : selectFileMethod(file, media.size);
    const caption = attempt.html ? part.body.text : toPlainPartText(part.body, MAX_CAPTION);
    const payload = {
      ...toDestination(deps, part, attempt),
      ...(caption === '' ? {} : { caption, ...toMarkup(attempt) }),
      ...toKeyboard(part.buttons),
      [field]: media,
    };
    return { method, payload };
  };
  return sendCall(deps, part, make, signal);
}
