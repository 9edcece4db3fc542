import { DOCUMENT, fileMethodOf, openUpload, type Upload } from './files.ts';
import {
  type AdapterValues,
  ChannelError,
  type OutboundFile,
  type OutboundPart,
  type Receipt,
  reasonOf,
} from '@parley/core';
import type { TelegramApi } from './connection.ts';
import { type Attempt, callFailureOf, nextAttempt, sendErrorOf } from './failures.ts';
import { fitsCaption, keyboardOf, MAX_CAPTION, plainText, replyTo, threadOf } from './format.ts';

/** `note` reports to operators. */
export interface SendDeps {
  readonly api: Pick<TelegramApi, 'send'>;
  readonly linkPreviews: boolean;
  readonly note: (facts: object, message: string) => void;
  /** Called before the first byte of a message leaves. */
  readonly onStart?: (() => void) | undefined;
}

/** One call of the Bot API. */
export interface Call {
  readonly method: string;
  readonly payload: object;
}

/** Sends the text of a part as a message. Throws only `ChannelError`. */
export async function sendText(
  deps: SendDeps,
  part: OutboundPart,
  signal: AbortSignal,
): Promise<Receipt> {
  const previews = deps.linkPreviews ? {} : { link_preview_options: { is_disabled: true } };
  const keyboard = keyboardOf(part.buttons);
  const make = (attempt: Attempt): Call => ({
    method: 'sendMessage',
    payload: {
      text: attempt.html ? part.body.text : plainText(part.body),
      ...markupOf(attempt),
      ...previews,
      ...placeOf(part, attempt),
      ...keyboard,
    },
  });
  return sendCall(deps, part, make, signal);
}

/** Chat, topic and the message to quote; in a chat that has moved the question has another number. */
function placeOf({ route }: OutboundPart, { chatId }: Attempt): object {
  const quoted = chatId === route.chatId ? route.replyToMessageId : undefined;
  return { chat_id: chatId, ...threadOf(route.threadId), ...replyTo(quoted) };
}

/** How the text of an attempt is parsed. */
function markupOf({ html }: Attempt): { parse_mode?: 'HTML' } {
  return html ? { parse_mode: 'HTML' } : {};
}

/**
 * Makes one message. Refusals that another form goes round are met by sending once more, which
 * repeats nothing because Telegram sent nothing. Throws only `ChannelError`.
 */
async function sendCall(
  { api, note, onStart }: SendDeps,
  part: OutboundPart,
  make: (attempt: Attempt) => Call,
  signal: AbortSignal,
): Promise<Receipt> {
  const { chatId } = part.route;
  let attempt: Attempt = { chatId, html: true, asDocument: false };
  for (;;) {
    if (signal.aborted) throw notStarted(chatId);
    const { method, payload } = make(attempt);
    try {
      const platformMessageId = await api.send(method, payload, signal, onStart);
      const moved = attempt.chatId !== chatId;
      return { platformMessageId, ...(moved ? { migratedTo: attempt.chatId } : {}) };
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      const next = nextAttempt(attempt, failure);
      if (next === undefined) throw sendErrorOf(failure, attempt.chatId, thrown);
      note({ part: part.id, chatId, reason: failure.reason }, next.because);
      attempt = next.attempt;
    }
  }
}

function notStarted(chatId: string): ChannelError {
  return new ChannelError(
    { kind: 'transient' },
    `Telegram chat ${chatId}: stopped before sending.`,
  );
}

/** What sending files needs besides. */
export interface SendFileDeps extends SendDeps {
  readonly values: AdapterValues;
}

const FILE_SENT = 'file-sent';

/**
 * Sends a file with the text of its part below it. A text too long for that follows as a message of
 * its own. That the file has arrived is remembered in between: when the text has to wait or is
 * tried again, the file does not go out twice. Throws only `ChannelError`.
 */
export async function sendFile(
  deps: SendFileDeps,
  part: OutboundPart,
  file: OutboundFile,
  signal: AbortSignal,
): Promise<Receipt> {
  if (fitsCaption(part.body)) return upload(deps, part, file, signal);
  // What is wrong with the buttons must be known before the file is out.
  keyboardOf(part.buttons);
  const sent = await deps.values.get(FILE_SENT, [part.id]);
  if (!sent.has(part.id)) await sendFirst(deps, part, file, signal);
  try {
    const receipt = await sendText(deps, part, signal);
    await forget(deps, part);
    return receipt;
  } catch (thrown) {
    if (!(thrown instanceof ChannelError && thrown.retryable)) await forget(deps, part);
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
  const { platformMessageId } = await upload(deps, silent, file, signal);
  try {
    await deps.values.set([{ kind: FILE_SENT, id: part.id, value: platformMessageId }]);
  } catch (error) {
    const reason = `the file has arrived, but not its text: ${reasonOf(error)}`;
    throw new ChannelError({ kind: 'unknown-outcome' }, `${file.name}: ${reason}.`, error);
  }
}

/** What is left behind when this fails is one row that is not read again. */
async function forget({ values, note }: SendFileDeps, part: OutboundPart): Promise<void> {
  try {
    await values.set([{ kind: FILE_SENT, id: part.id, value: null }]);
  } catch (error) {
    note({ part: part.id, reason: reasonOf(error) }, 'a note about a sent file stays behind');
  }
}

async function upload(
  deps: SendFileDeps,
  part: OutboundPart,
  file: OutboundFile,
  signal: AbortSignal,
): Promise<Receipt> {
  const opened = await openUpload(file);
  const broken = new AbortController();
  const make = (attempt: Attempt): Call =>
    fileCall(part, file, attempt, { ...opened, failed: (reason) => broken.abort(reason) });
  try {
    return await sendCall(deps, part, make, AbortSignal.any([signal, broken.signal]));
  } finally {
    await opened.close();
  }
}

/** Beside a file telegraf loses objects, so they go as JSON text, which the Bot API takes alike. */
function fileCall(
  part: OutboundPart,
  file: OutboundFile,
  attempt: Attempt,
  source: Upload & { failed(reason: unknown): void },
): Call {
  const { method, field } = attempt.asDocument ? DOCUMENT : fileMethodOf(file, source.bytes);
  const caption = attempt.html ? part.body.text : plainText(part.body, MAX_CAPTION);
  const beside = {
    ...placeOf(part, attempt),
    ...(caption === '' ? {} : { caption, ...markupOf(attempt) }),
    ...keyboardOf(part.buttons),
  };
  const flat = Object.entries(beside).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : value,
  ]);
  return { method, payload: { ...Object.fromEntries(flat), [field]: source.media(source.failed) } };
}
