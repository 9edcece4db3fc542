import {
  type ConnectionFailureDecision,
  callOutcome,
  computeReconnectBackoff,
} from '@parley/channels';
import { ChannelError, type ChannelFailure, reasonOf } from '@parley/core';
import { type EphemeralMethod, selectNextMethod } from './ephemeral.ts';

/** Why a call has no result; the kinds differ in whether Telegram may have executed the call. */
export type CallFailure =
  /** Telegram refused the call and did nothing. */
  | {
      readonly kind: 'refused';
      /** An HTTP status: 400, 401, 403, 404, 409 or 429. */
      readonly code: number;
      readonly reason: string;
      /** The wait in ms, when Telegram names one. */
      readonly retryAfterMs?: number;
      /** The id of the supergroup that the group was upgraded to. */
      readonly migrateTo?: string;
    }
  /** No connection was established, so Telegram received nothing. */
  | { readonly kind: 'not-sent'; readonly reason: string }
  /**
   * The request may have arrived: the connection was reset, the request timed out, or a gateway
   * sent an error page.
   */
  | { readonly kind: 'unknown'; readonly reason: string };

/** A call that failed before its connection was ready, so no byte of it was sent. */
export class UnsentError extends Error {
  constructor(cause: unknown) {
    super('The call was not sent.', { cause });
  }
}

/** An error response of the Bot API. */
export interface ApiRefusal {
  /** An HTTP status; 500 and above come from an intermediate server. */
  readonly error_code: number;
  readonly description: string;
  readonly parameters?:
    | {
        /** Seconds to wait. */
        readonly retry_after?: number | undefined;
        /** The id of the supergroup that a group was upgraded to. */
        readonly migrate_to_chat_id?: number | undefined;
      }
    | undefined;
}

/** A call that was answered without a result. */
export class ApiError extends Error {
  readonly refusal: ApiRefusal;

  constructor(refusal: ApiRefusal) {
    super(`${refusal.error_code}: ${refusal.description}`);
    this.refusal = refusal;
  }
}

/** Classifies the error of a call. The reason never contains the bot token. */
export function toCallFailure(thrown: unknown): CallFailure {
  const isUnsent = thrown instanceof UnsentError;
  const error = isUnsent ? thrown.cause : thrown;
  const answer = error instanceof ApiError ? error.refusal : undefined;
  const outcome = callOutcome({
    error,
    status: answer?.error_code,
    // A `TypeError` is a bug in Parley. A `TypeError` does not prove that nothing was sent, and a
    // retry would fail forever.
    ...(isUnsent && !(error instanceof TypeError) ? { connected: false } : {}),
  });
  if (answer !== undefined && outcome === 'refused') return toRefusal(answer);
  const reason = removeToken(describeFailure(error, answer));
  return outcome === 'not-sent' ? { kind: 'not-sent', reason } : { kind: 'unknown', reason };
}

function describeFailure(error: unknown, answer: ApiRefusal | undefined): string {
  if (answer !== undefined) return `HTTP ${answer.error_code} ${answer.description}`.trim();
  const aborted = error instanceof Error && error.name === 'AbortError';
  return aborted ? 'no answer in time' : reasonOf(error);
}

function toRefusal({ error_code: code, description, parameters }: ApiRefusal): CallFailure {
  const { retry_after, migrate_to_chat_id } = parameters ?? {};
  return {
    kind: 'refused',
    code,
    reason: description,
    ...(retry_after === undefined ? {} : { retryAfterMs: retry_after * 1000 }),
    ...(migrate_to_chat_id === undefined ? {} : { migrateTo: String(migrate_to_chat_id) }),
  };
}

/** Errors of Node and of telegraf may contain the URL of the call, which holds the token. */
function removeToken(text: string): string {
  return text.replace(/\/bot\d+:[^/\s]+/g, '/bot<token>');
}

/** The default wait when Telegram asks for one without stating its length, in ms. */
const DEFAULT_RETRY_AFTER_MS = 5_000;

const GONE =
  /chat not found|user is deactivated|chat was (?:deleted|deactivated)|group chat was upgraded|PEER_ID_INVALID|message thread not found|TOPIC_DELETED/i;
const TOPIC_GONE = /message thread not found|TOPIC_DELETED/i;
const MUTE =
  /not enough rights|have no rights|need administrator rights|CHAT_ADMIN_REQUIRED|CHAT_WRITE_FORBIDDEN|CHAT_SEND_PLAIN_FORBIDDEN|CHAT_RESTRICTED/i;
const TOPIC_CLOSED = /TOPIC_CLOSED/i;
/** Matches refusals of files in chats that still accept text. */
const NO_FILES = /not enough rights to send (?!text|message)|CHAT_SEND_(?!PLAIN)\w+_FORBIDDEN/i;
const FORMAT = /can't parse entities|can't find end of the entity|ENTITY_BOUNDS_INVALID/i;

/**
 * Telegram cannot parse the markup of this part; the same text without markup would be accepted.
 */
export function isFormatRefusal(failure: CallFailure): boolean {
  return failure.kind === 'refused' && failure.code === 400 && FORMAT.test(failure.reason);
}

/**
 * Telegram refuses a rich message that an ordinary message can replace: because of its HTML, its
 * size, or a server without rich messages (404). Refusals that concern the chat do not count.
 */
export function isRichRefusal(failure: CallFailure): boolean {
  if (failure.kind !== 'refused' || failure.migrateTo !== undefined) return false;
  const { code, reason } = failure;
  const isOfChat = [GONE, MUTE, TOPIC_CLOSED, /message to edit not found|can't be edited/i];
  return code === 404 || (code === 400 && !isOfChat.some((pattern) => pattern.test(reason)));
}

/** The delivery error of a failed send, with a message for people. */
export function toTelegramSendError(
  failure: CallFailure,
  chatId: string,
  cause: unknown,
): ChannelError {
  const what = `Telegram chat ${chatId}: ${failure.reason}`;
  return new ChannelError(
    toChannelFailure(failure),
    `${what}. ${describeSendAdvice(failure)}`.trim(),
    cause,
  );
}

/**
 * The delivery error of a call that is safe to repeat: losing the response leaves nothing
 * uncertain.
 */
export function toRetryableError(thrown: CallFailure, what: string, cause: unknown): ChannelError {
  const failure = toChannelFailure(thrown);
  const isLost = failure.kind === 'unknown-outcome' || failure.kind === 'transient';
  const kind = isLost ? ({ kind: 'transient' } as const) : failure;
  return new ChannelError(kind, `${what}: ${thrown.reason}.`, cause);
}

function toChannelFailure(failure: CallFailure): ChannelFailure {
  if (failure.kind === 'not-sent') return { kind: 'transient', untried: true };
  if (failure.kind === 'unknown') return { kind: 'unknown-outcome' };
  const { code, reason, retryAfterMs = DEFAULT_RETRY_AFTER_MS } = failure;
  if (code === 429) return { kind: 'rate-limited', retryAfterMs, scope: 'chat' };
  // Telegram refuses the whole account rather than this part, which can be sent once the token is
  // fixed.
  if (code === 401 || code === 404) return { kind: 'transient' };
  if (GONE.test(reason)) return { kind: 'gone' };
  const isClosed = MUTE.test(reason) || TOPIC_CLOSED.test(reason);
  if (code === 403 || (isClosed && !NO_FILES.test(reason))) return { kind: 'forbidden' };
  return isFormatRefusal(failure) ? { kind: 'refused-format' } : { kind: 'refused' };
}

function describeSendAdvice(failure: CallFailure): string {
  if (failure.kind === 'not-sent') return 'Telegram could not be reached; Parley will try again.';
  if (failure.kind === 'unknown') return 'The message may have arrived; check the chat.';
  if (failure.code === 429) return 'The message will be sent after the wait.';
  if (TOPIC_GONE.test(failure.reason))
    return 'The topic was deleted: choose another chat for jobs and targets that write there.';
  if (TOPIC_CLOSED.test(failure.reason))
    return 'Open the topic again, or make the bot an administrator that may manage topics.';
  if (NO_FILES.test(failure.reason)) return 'The group does not allow the bot to send such files.';
  if (MUTE.test(failure.reason)) return 'Give the bot the right to send messages there.';
  if (failure.code === 403) return 'Add the bot to the chat again.';
  return '';
}

/**
 * The form in which a message part is sent in one attempt. Each field changes at most once between
 * the attempts for a part.
 */
export interface SendAttempt {
  readonly chatId: string;
  /** The HTML of a rich message; absent for an ordinary one. */
  readonly rich?: string | undefined;
  /** Whether the text has markup or is plain. */
  readonly html: boolean;
  /** Whether a picture or recording is sent as an ordinary file. */
  readonly asDocument: boolean;
  /** How a sole recipient is reached; absent when the part is for everyone in the chat. */
  readonly alone?: EphemeralMethod;
}

/** The form of the next attempt, and the reason for the log. */
export interface NextSendAttempt {
  readonly attempt: SendAttempt;
  readonly because: string;
}

const MEDIA_REFUSED =
  /PHOTO_|IMAGE_PROCESS_FAILED|VOICE_MESSAGES_FORBIDDEN|VIDEO_|AUDIO_|MEDIA_INVALID|wrong type of the web page content|restricted receiving of (?:voice|video)|not enough rights to send (?:photo|video|audio|voice|animation)/i;

/**
 * Handles refusals that can be avoided by sending the same part in another form: markup that
 * Telegram cannot parse, a picture it rejects, a group that has become a supergroup. Retrying is
 * safe because nothing was sent.
 */
export function planNextAttempt(
  attempt: SendAttempt,
  failure: CallFailure,
): NextSendAttempt | undefined {
  if (failure.kind !== 'refused') return undefined;
  const { migrateTo, reason } = failure;
  if (migrateTo !== undefined && migrateTo !== attempt.chatId) {
    const because = 'the group became a supergroup; sending to the supergroup';
    return { attempt: { ...attempt, chatId: migrateTo }, because };
  }
  if (isRichRefusal(failure) && attempt.rich !== undefined) {
    const { rich: _rich, ...ordinary } = attempt;
    return { attempt: ordinary, because: 'rich message refused; sending an ordinary one' };
  }
  if (isFormatRefusal(failure) && attempt.html) {
    return { attempt: { ...attempt, html: false }, because: 'markup refused; sending plain text' };
  }
  if (MEDIA_REFUSED.test(reason) && !attempt.asDocument) {
    const because = 'picture or recording refused; sending it as a file';
    return { attempt: { ...attempt, asDocument: true }, because };
  }
  return planFallbackMethod(attempt, failure.code);
}

/**
 * An answer for one person is never shown to others instead, but may fall back to that person's
 * direct chat.
 */
function planFallbackMethod(attempt: SendAttempt, code: number): NextSendAttempt | undefined {
  const way = attempt.alone && selectNextMethod(attempt.alone);
  if (way === undefined || (code !== 400 && code !== 403)) return undefined;
  const because =
    way === 'direct'
      ? 'refused as a private message in the group; sending it to the direct chat'
      : 'too late for a private answer; sending it as a separate private message';
  return { attempt: { ...attempt, alone: way }, because };
}

/**
 * Two pollers interrupt each other, so the poller that waits longer lets the other poller proceed.
 * Durations in ms.
 */
const CONFLICT_MS = 10_000;

/**
 * Decides what to do after the n-th failure in a row (from 0). `random` is in [0, 1).
 * `drop-webhook` is returned when a webhook forbids polling.
 */
export function decideAfterConnectionFailure(
  failure: CallFailure,
  failures: number,
  random: number,
): ConnectionFailureDecision | { readonly kind: 'drop-webhook' } {
  const afterMs = computeReconnectBackoff(failures, random);
  if (failure.kind !== 'refused') {
    return { kind: 'retry', afterMs, reason: `Telegram cannot be reached: ${failure.reason}` };
  }
  const { code, reason } = failure;
  switch (code) {
    case 401:
    case 404:
      return {
        kind: 'give-up',
        reason: `Telegram refuses the bot token (${code} ${reason})`,
        fix: 'Copy the token from @BotFather into channels.telegram.token, and check apiRoot if you set one; then save the settings file.',
      };
    case 409:
      // The webhook is removed once. If it reappears, another program set it on purpose.
      if (/webhook is active/i.test(reason) && failures === 0) return { kind: 'drop-webhook' };
      return {
        kind: 'retry',
        afterMs: Math.max(CONFLICT_MS, afterMs),
        reason: `another program uses the same bot token; stop it, or give it its own bot (${reason})`,
      };
    case 429:
      return { kind: 'retry', afterMs: failure.retryAfterMs ?? afterMs, reason };
    default:
      return {
        kind: 'retry',
        afterMs,
        reason: `Telegram refuses to deliver messages: ${code} ${reason}`,
      };
  }
}
