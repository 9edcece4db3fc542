import { ChannelError, type ChannelFailure } from '@parley/contracts';
import { type CallFailure, callFailureOf } from './call-failure.ts';

/** Slow mode names no time; a channel can have up to six hours. In ms. */
const SLOW_MODE_MS = 10_000;

/** Discord's own numbers that mean something else than their HTTP status says. */
const BY_CODE: ReadonlyMap<number, ChannelFailure> = new Map<number, ChannelFailure>([
  // Unknown channel, server.
  [10003, { kind: 'gone' }],
  [10004, { kind: 'gone' }],
  // Unknown message: the place is there, what is to be changed is not.
  [10008, { kind: 'refused' }],
  // Slow mode, write limit of a channel.
  [20016, { kind: 'rate-limited', retryAfterMs: SLOW_MODE_MS, scope: 'chat' }],
  [20028, { kind: 'rate-limited', retryAfterMs: SLOW_MODE_MS, scope: 'chat' }],
  [130000, { kind: 'transient' }],
  // A locked thread.
  [160005, { kind: 'forbidden' }],
  // A server's own filter blocks the words.
  [200000, { kind: 'refused' }],
  [200001, { kind: 'refused' }],
]);

/** What delivery must do about a failed call, told for people beside it. */
export function sendErrorOf(failure: CallFailure, channelId: string, cause: unknown): ChannelError {
  const what = `Discord channel ${channelId}:`;
  switch (failure.kind) {
    case 'rate-limited': {
      const { retryAfterMs, global } = failure;
      const scope = global ? 'account' : 'chat';
      const words = `${what} too many messages; it is sent in ${retryAfterMs} ms.`;
      return new ChannelError({ kind: 'rate-limited', retryAfterMs, scope }, words, cause);
    }
    case 'not-sent':
      return new ChannelError(
        { kind: 'transient', untried: true },
        `${what} Discord was not reached (${failure.reason}); it is tried again.`,
        cause,
      );
    case 'unknown':
      return new ChannelError(
        { kind: 'unknown-outcome' },
        `${what} ${failure.reason}. The message may have arrived.`,
        cause,
      );
    case 'refused': {
      const words = `${what} ${failure.reason} (${failure.status}/${failure.code}). ${adviceFor(failure.code)}`;
      return new ChannelError(meaningOf(failure), words.trim(), cause);
    }
  }
}

function meaningOf({ status, code }: Extract<CallFailure, { kind: 'refused' }>): ChannelFailure {
  const known = BY_CODE.get(code);
  if (known !== undefined) return known;
  // The account is refused, not this part: it may go out once the token is mended.
  if (status === 401) return { kind: 'transient' };
  if (status === 403) return { kind: 'forbidden' };
  return status === 404 ? { kind: 'gone' } : { kind: 'refused' };
}

function adviceFor(code: number): string {
  switch (code) {
    case 50001:
    case 50013:
      return 'Give the bot View Channel, Send Messages and Send Messages in Threads there.';
    case 50007:
      return 'This person takes no direct messages from the bot.';
    case 40005:
      return 'The file is larger than this server allows.';
    default:
      return '';
  }
}

/** Does something in a channel; what is thrown is a `ChannelError`. */
export async function translated<T>(channelId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw sendErrorOf(callFailureOf(thrown), channelId, thrown);
  }
}
