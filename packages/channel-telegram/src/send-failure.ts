import { ChannelError, type ChannelFailure } from '@parley/contracts';
import type { CallFailure } from './call-failure.ts';

/** Telegram's wait when it names none, in ms. */
const DEFAULT_RETRY_AFTER_MS = 5_000;

const GONE =
  /chat not found|user is deactivated|chat was (?:deleted|deactivated)|group chat was upgraded|PEER_ID_INVALID|message thread not found|TOPIC_DELETED/i;
const FORBIDDEN =
  /not enough rights|have no rights|need administrator rights|CHAT_ADMIN_REQUIRED|CHAT_WRITE_FORBIDDEN|TOPIC_CLOSED|CHAT_RESTRICTED/i;
const FORMAT = /can't parse entities|can't find end of the entity|ENTITY_BOUNDS_INVALID/i;

/** Telegram cannot read the markup of this part; the same words without it would go through. */
export function isFormatRefusal(failure: CallFailure): boolean {
  return failure.kind === 'refused' && failure.code === 400 && FORMAT.test(failure.reason);
}

/** What delivery must do about a send that failed, told for people beside it. */
export function sendErrorOf(failure: CallFailure, chatId: string, cause: unknown): ChannelError {
  const what = `Telegram chat ${chatId}: ${failure.reason}`;
  return new ChannelError(
    channelFailureOf(failure),
    `${what}. ${adviceFor(failure)}`.trim(),
    cause,
  );
}

/** The same for a call that may be made again without harm: an answer that got lost is no riddle. */
export function repeatableErrorOf(thrown: CallFailure, what: string, cause: unknown): ChannelError {
  const failure = channelFailureOf(thrown);
  const isLost = failure.kind === 'unknown-outcome' || failure.kind === 'transient';
  const kind = isLost ? ({ kind: 'transient' } as const) : failure;
  return new ChannelError(kind, `${what}: ${thrown.reason}.`, cause);
}

function channelFailureOf(failure: CallFailure): ChannelFailure {
  if (failure.kind === 'not-sent') return { kind: 'transient', untried: true };
  if (failure.kind === 'unknown') return { kind: 'unknown-outcome' };
  const { code, reason, retryAfterMs = DEFAULT_RETRY_AFTER_MS } = failure;
  if (code === 429) return { kind: 'rate-limited', retryAfterMs, scope: 'chat' };
  // The account is refused, not this part: it may go out once the token is mended.
  if (code === 401 || code === 404) return { kind: 'transient' };
  if (GONE.test(reason)) return { kind: 'gone' };
  if (code === 403 || FORBIDDEN.test(reason)) return { kind: 'forbidden' };
  return isFormatRefusal(failure) ? { kind: 'refused-format' } : { kind: 'refused' };
}

function adviceFor(failure: CallFailure): string {
  if (failure.kind === 'not-sent') return 'Telegram was not reached; it is tried again.';
  if (failure.kind === 'unknown') return 'The message may have arrived; look into the chat.';
  if (failure.code === 429) return 'It is sent when the wait is over.';
  if (failure.code === 403) return 'The chat must let the bot in again.';
  return '';
}
