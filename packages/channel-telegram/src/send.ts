import type { BeforePart, ChatAddress, MessageFacet } from '@parley/channels';
import {
  type AdapterValues,
  ChannelError,
  type OutboundFile,
  type OutboundPart,
  type Receipt,
  type RenderedPart,
  reasonOf,
} from '@parley/core';
import type { TelegramApi } from './api.ts';
import {
  type Attempt,
  callFailureOf,
  isFormatRefusal,
  nextAttempt,
  repeatableErrorOf,
  sendErrorOf,
} from './failures.ts';
import { DOCUMENT, fileMethodOf, openUpload, type Upload } from './files.ts';
import {
  fitsCaption,
  keyboardOf,
  MAX_CAPTION,
  MAX_TEXT,
  messageNumber,
  plainText,
  replyTo,
  threadOf,
} from './format.ts';
import { isOfSupergroup, type MovedChats } from './moved-chats.ts';

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

/** Sends one part. @throws ChannelError */
export function sendPart(
  deps: SendFileDeps,
  part: OutboundPart,
  signal: AbortSignal,
): Promise<Receipt> {
  return part.file ? sendFile(deps, part, part.file, signal) : sendText(deps, part, signal);
}

async function sendText(deps: SendDeps, part: OutboundPart, signal: AbortSignal): Promise<Receipt> {
  const previews = deps.linkPreviews ? {} : { link_preview_options: { is_disabled: true } };
  const keyboard = keyboardOf(part.buttons);
  const make = (attempt: Attempt): Call => ({
    method: 'sendMessage',
    payload: {
      text: attempt.html ? part.body.text : plainText(part.body),
      ...markupOf(attempt),
      ...previews,
      ...placeOf(deps, part, attempt),
      ...keyboard,
    },
  });
  return sendCall(deps, part, make, signal);
}

/** Chat, topic and the message to quote; in a chat that has moved the question has another number. */
function placeOf(
  { moved }: Pick<SendDeps, 'moved'>,
  { route }: OutboundPart,
  { chatId }: Attempt,
): object {
  const id = route.replyToMessageId;
  const isThere = id !== undefined && moved.isThere(route.chatId, id);
  const quoted = isThere && chatId === route.chatId ? id : undefined;
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
  { api, moved, note, onStart }: SendDeps,
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
      const messageId = await api.send(method, payload, signal, onStart);
      return { platformMessageId: moved.idOf(chatId, messageId) };
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      const next = nextAttempt(attempt, failure);
      if (next === undefined) throw sendErrorOf(failure, attempt.chatId, thrown);
      note({ part: part.id, chatId, reason: failure.reason }, next.because);
      if (next.attempt.chatId !== attempt.chatId) await moved.note(chatId, next.attempt.chatId);
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
interface SendFileDeps extends SendDeps {
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
    fileCall(deps, part, file, attempt, { ...opened, failed: (reason) => broken.abort(reason) });
  try {
    return await sendCall(deps, part, make, AbortSignal.any([signal, broken.signal]));
  } finally {
    await opened.close();
  }
}

/** Beside a file telegraf loses objects, so they go as JSON text, which the Bot API takes alike. */
function fileCall(
  deps: Pick<SendDeps, 'moved'>,
  part: OutboundPart,
  file: OutboundFile,
  attempt: Attempt,
  source: Upload & { failed(reason: unknown): void },
): Call {
  const { method, field } = attempt.asDocument ? DOCUMENT : fileMethodOf(file, source.bytes);
  const caption = attempt.html ? part.body.text : plainText(part.body, MAX_CAPTION);
  const beside = {
    ...placeOf(deps, part, attempt),
    ...(caption === '' ? {} : { caption, ...markupOf(attempt) }),
    ...keyboardOf(part.buttons),
  };
  const flat = Object.entries(beside).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : value,
  ]);
  return { method, payload: { ...Object.fromEntries(flat), [field]: source.media(source.failed) } };
}

const NO_TEXT = /there is no text in the message/i;

/** Changes that end in the same state however often they are made, so each may be repeated. */
export function createMessageFacet(
  { api, moved }: Pick<SendDeps, 'moved'> & { readonly api: Pick<TelegramApi, 'call'> },
  linkPreviews: boolean,
  stopping: AbortSignal,
): Required<MessageFacet> {
  const change = async (
    method: string,
    { chatId }: ChatAddress,
    messageId: string,
    more: object,
  ): Promise<void> => {
    const message_id = messageNumber(messageId);
    if (message_id === undefined || !moved.isThere(chatId, messageId))
      throw unknownMessage(chatId, messageId);
    await api.call(method, { chat_id: chatId, message_id, ...more }, stopping);
  };
  const content = (body: RenderedPart, { html, below }: EditForm): object => ({
    [below ? 'caption' : 'text']: html
      ? body.text
      : plainText(body, below ? MAX_CAPTION : MAX_TEXT),
    ...(html ? { parse_mode: 'HTML' } : {}),
    ...(linkPreviews || below ? {} : { link_preview_options: { is_disabled: true } }),
  });
  return {
    edit: (address, messageId, body) =>
      tolerate(/message is not modified/i, address, () =>
        tryForms((form) => {
          const method = form.below ? 'editMessageCaption' : 'editMessageText';
          return change(method, address, messageId, content(body, form));
        }),
      ),
    delete: (address, messageId) =>
      tolerate(/message to delete not found/i, address, () =>
        change('deleteMessage', address, messageId, {}),
      ),
    react: (address, messageId, emoji) =>
      tolerate(/REACTION_NOT_MODIFIED/i, address, () => {
        const reaction = emoji === undefined ? [] : [{ type: 'emoji', emoji }];
        return change('setMessageReaction', address, messageId, { reaction });
      }),
  };
}

/** How a text is edited: with markup or plainly, as a message or below a file. */
interface EditForm {
  readonly html: boolean;
  readonly below: boolean;
}

/** Once more without markup where Telegram cannot read it, and below the file where there is one. */
async function tryForms(edit: (form: EditForm) => Promise<void>): Promise<void> {
  let form: EditForm = { html: true, below: false };
  for (;;) {
    try {
      return await edit(form);
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      if (isFormatRefusal(failure) && form.html) form = { ...form, html: false };
      else if (NO_TEXT.test(failure.reason) && !form.below) form = { ...form, below: true };
      else throw thrown;
    }
  }
}

/** `done` names the refusal that means it is already as requested. */
async function tolerate(
  done: RegExp,
  { chatId }: ChatAddress,
  task: () => Promise<void>,
): Promise<void> {
  try {
    await task();
  } catch (thrown) {
    if (thrown instanceof ChannelError) throw thrown;
    const failure = callFailureOf(thrown);
    if (failure.kind === 'refused' && done.test(failure.reason)) return;
    throw repeatableErrorOf(failure, `Telegram chat ${chatId}`, thrown);
  }
}

function unknownMessage(chatId: string, messageId: string): ChannelError {
  const message = `Telegram chat ${chatId} has no message "${messageId}": its ids are numbers.`;
  return new ChannelError({ kind: 'refused' }, message);
}

/** So many messages of other chats, and such that waited unread, may have been numbered in between. */
const MOST_LOOKS = 120;
/** Supergroups and channels number their own messages; all other chats of a bot share one row of numbers. */
const OWN_NUMBERS = /^-100\d{10}/;

/**
 * Finds a part that may have been sent. Telegram shows a bot no messages, but refuses to give a message the
 * buttons that it has, and says with it whether there is one of the bot's own at this number. The numbers that
 * follow the last one known before are asked for, in order.
 */
export async function findSent(
  { api, moved }: Pick<SendDeps, 'moved'> & { readonly api: Pick<TelegramApi, 'call'> },
  part: OutboundPart,
  before: BeforePart,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { chatId } = part.route;
  const first = firstNumber(chatId, before, moved.now(chatId));
  // A file and a text that does not fit below it are two messages.
  if (first === undefined || part.file !== undefined) return undefined;
  const keyboard = keyboardOf(part.buttons);
  for (let number = first; number < first + MOST_LOOKS; number += 1) {
    const place = { chat_id: chatId, message_id: number };
    try {
      await api.call('editMessageReplyMarkup', { ...place, ...keyboard }, signal);
      return undefined;
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      if (failure.kind !== 'refused' || failure.code !== 400) return undefined;
      if (/message is not modified/i.test(failure.reason))
        return moved.idOf(chatId, String(number));
      if (!/message to edit not found|message can't be edited/i.test(failure.reason))
        return undefined;
    }
  }
  return undefined;
}

/**
 * The smallest number that a part of this chat can have; undefined where nothing is known, or where what is
 * found might be another part that is uncertain.
 */
export function firstNumber(
  chatId: string,
  { known, uncertainAt }: BeforePart,
  now: string = chatId,
): number | undefined {
  const hasOwn = OWN_NUMBERS.test(now);
  // Those of a group from before it became a supergroup are in the common row.
  const isMoved = chatId !== now;
  const row = known.filter((each) =>
    hasOwn
      ? each.chatId === chatId && isOfSupergroup(each.messageId) === isMoved
      : !OWN_NUMBERS.test(each.chatId) && !isOfSupergroup(each.messageId),
  );
  // What was sent since has a higher number than that part; what came in may have been waiting for long.
  const isDoubtful = ({ direction, at }: (typeof row)[number]) =>
    direction === 'in' || at <= (uncertainAt ?? 0);
  if (uncertainAt !== null && row.every(isDoubtful)) return undefined;
  const numbers = row.flatMap(({ messageId }) => messageNumber(messageId) ?? []);
  return numbers.length === 0 ? undefined : Math.max(...numbers) + 1;
}
