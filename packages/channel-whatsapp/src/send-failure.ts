import { ChannelError, type ChannelFailure } from '@parley/contracts';
import { withoutNumbers } from './baileys-logger.ts';
import { codeOf } from './boom.ts';

/** WhatsApp names no time after too many messages; it has blocked accounts that went on. In ms. */
const SLOW_DOWN_MS = 60_000;

/** Why a message has no confirmation. */
export type SendFailure =
  /** The server's answer carries an error: it did not pass the message on. */
  | { readonly kind: 'refused'; readonly code: number }
  /** There is no connection. */
  | { readonly kind: 'away' }
  /** It did not leave: the connection broke, or a question before it was not answered. */
  | { readonly kind: 'not-sent'; readonly reason: string }
  /** It left, and there is no answer. */
  | { readonly kind: 'unanswered'; readonly reason: string };

/** Reads what Baileys threw before anything left; the number is that of a refused question. */
export function notSent(thrown: unknown): SendFailure {
  const code = codeOf(thrown, 'data');
  if (code !== undefined && code >= 400 && code < 500) return { kind: 'refused', code };
  const reason = thrown instanceof Error ? withoutNumbers(thrown.message) : 'unknown';
  return { kind: 'not-sent', reason };
}

/** What delivery must do about it, told for people beside it. */
export function sendErrorOf(failure: SendFailure, cause?: unknown): ChannelError {
  switch (failure.kind) {
    case 'away':
      return new ChannelError(
        { kind: 'transient', untried: true },
        'WhatsApp is not connected; the message waits until it is.',
        cause,
      );
    case 'not-sent':
      return new ChannelError(
        { kind: 'transient' },
        `WhatsApp was not reached (${failure.reason}); it is tried again.`,
        cause,
      );
    case 'unanswered':
      return new ChannelError(
        { kind: 'unknown-outcome' },
        `WhatsApp did not confirm the message: ${failure.reason}. It may have arrived.`,
        cause,
      );
    case 'refused': {
      const [kind, words] = meaningOf(failure.code);
      return new ChannelError(kind, `WhatsApp refuses the message (${failure.code}): ${words}`);
    }
  }
}

function meaningOf(code: number): [ChannelFailure, string] {
  switch (code) {
    case 401:
    case 403:
      return [{ kind: 'forbidden' }, 'the account may not write in this chat.'];
    case 404:
    case 410:
      return [{ kind: 'gone' }, 'there is no such chat.'];
    case 463:
      return [
        { kind: 'forbidden' },
        'the account may write only to people who wrote to it; asking again makes it worse.',
      ];
    case 429:
      return [
        { kind: 'rate-limited', retryAfterMs: SLOW_DOWN_MS, scope: 'account' },
        'too many messages; it is sent later.',
      ];
    default:
      return code >= 500
        ? [{ kind: 'transient' }, 'it is tried again.']
        : [{ kind: 'refused' }, 'it is not sent.'];
  }
}
