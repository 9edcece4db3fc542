import {
  type ConnectionFailureDecision,
  callOutcome,
  computeReconnectBackoff,
  RECONNECT,
} from '@parley/channels';
import { ChannelError, type ChannelFailure, reasonOf } from '@parley/core';
import { DiscordAPIError, HTTPError, RateLimitError } from 'discord.js';

/** Why a call failed. The kinds differ in whether Discord may have executed the call. */
type CallFailure =
  /** Discord refused the call and did nothing. */
  | {
      readonly kind: 'refused';
      /** An HTTP status: 400, 401, 403, 404 or 413. */
      readonly status: number;
      /** Discord's error code, for example 50035; 0 if there was none. */
      readonly code: number;
      readonly reason: string;
    }
  /** The call was rate-limited, so it was not sent or Discord refused it. */
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number; readonly global: boolean }
  /** No connection was opened. */
  | { readonly kind: 'not-sent'; readonly reason: string }
  /**
   * The request may have arrived: the connection was reset, the call timed out, or a proxy sent an
   * error page.
   */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Classifies an error of discord.js. */
export function toCallFailure(thrown: unknown): CallFailure {
  if (thrown instanceof RateLimitError) {
    const { retryAfter, timeToReset, sublimitTimeout, global } = thrown;
    const retryAfterMs = Math.ceil(Math.max(retryAfter, timeToReset, sublimitTimeout));
    return { kind: 'rate-limited', retryAfterMs, global };
  }
  if (thrown instanceof DiscordAPIError) {
    const { status, code, message } = thrown;
    return { kind: 'refused', status, code: Number(code) || 0, reason: message };
  }
  if (thrown instanceof HTTPError) {
    return { kind: 'unknown', reason: `HTTP ${thrown.status} ${thrown.message}`.trim() };
  }
  const reason = reasonOf(thrown);
  if (callOutcome({ error: thrown }) === 'not-sent') return { kind: 'not-sent', reason };
  const aborted = thrown instanceof Error && thrown.name === 'AbortError';
  return { kind: 'unknown', reason: aborted ? 'no answer in time' : reason };
}

/**
 * The wait (ms) in slow mode, because Discord's error does not include a time. A channel's slow
 * mode can be up to six hours.
 */
const SLOW_MODE_MS = 10_000;

/** Discord error codes that mean something different from their HTTP status. */
const BY_CODE: ReadonlyMap<number, ChannelFailure> = new Map<number, ChannelFailure>([
  // Error code for an unknown channel or server.
  [10003, { kind: 'gone' }],
  [10004, { kind: 'gone' }],
  // Error code for an unknown message in an existing channel.
  [10008, { kind: 'refused' }],
  // Error codes for slow mode and for a channel's write limit.
  [20016, { kind: 'rate-limited', retryAfterMs: SLOW_MODE_MS, scope: 'chat' }],
  [20028, { kind: 'rate-limited', retryAfterMs: SLOW_MODE_MS, scope: 'chat' }],
  [130000, { kind: 'transient' }],
  // Error code for a locked thread.
  [160005, { kind: 'forbidden' }],
  // Error code for text that a server's filter has blocked.
  [200000, { kind: 'refused' }],
  [200001, { kind: 'refused' }],
]);

/** Converts a failed call into the error that the delivery loop handles. */
export function toDiscordSendError(
  failure: CallFailure,
  channelId: string,
  cause: unknown,
): ChannelError {
  const what = `Discord channel ${channelId}:`;
  switch (failure.kind) {
    case 'rate-limited': {
      const { retryAfterMs, global } = failure;
      const scope = global ? 'account' : 'chat';
      const message = `${what} too many messages; this one will be sent in ${retryAfterMs} ms.`;
      return new ChannelError({ kind: 'rate-limited', retryAfterMs, scope }, message, cause);
    }
    case 'not-sent':
      return new ChannelError(
        { kind: 'transient', untried: true },
        `${what} Discord could not be reached (${failure.reason}); Parley will try again.`,
        cause,
      );
    case 'unknown':
      return new ChannelError(
        { kind: 'unknown-outcome' },
        `${what} ${failure.reason}. The message may have arrived.`,
        cause,
      );
    case 'refused': {
      const message = `${what} ${failure.reason} (${failure.status}/${failure.code}). ${getRefusalAdvice(failure.code)}`;
      return new ChannelError(toChannelFailure(failure), message.trim(), cause);
    }
  }
}

function toChannelFailure({
  status,
  code,
}: Extract<CallFailure, { kind: 'refused' }>): ChannelFailure {
  const known = BY_CODE.get(code);
  if (known !== undefined) return known;
  // Discord refuses the whole account, not just this message part, which can be sent once the token
  // is fixed.
  if (status === 401) return { kind: 'transient' };
  if (status === 403) return { kind: 'forbidden' };
  return status === 404 ? { kind: 'gone' } : { kind: 'refused' };
}

function getRefusalAdvice(code: number): string {
  switch (code) {
    case 50001:
    case 50013:
      return 'Give the bot the permissions View Channel, Send Messages and Send Messages in Threads there.';
    case 50007:
      return 'This person does not accept direct messages from the bot.';
    case 40005:
      return 'The file is larger than this server allows.';
    default:
      return '';
  }
}

/**
 * Runs a call on a channel and translates its failure.
 * @throws ChannelError
 */
export async function translateFailure<T>(channelId: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    if (thrown instanceof ChannelError) throw thrown;
    throw toDiscordSendError(toCallFailure(thrown), channelId, thrown);
  }
}

/** Why a login failed or a connection ended. */
export interface ConnectionClosure {
  readonly reason: string;
  /** The gateway's close code, if known. */
  readonly closeCode?: number | undefined;
  /** The wait that Discord asks for, in ms. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * The minimum interval (ms) between logins. Discord allows 1,000 logins a day; this interval allows
 * 480.
 */
const BETWEEN_LOGINS_MS = 180_000;
/**
 * The maximum pause (ms) before a login. Discord resets the count daily, so a later reset time
 * means that this machine's clock is wrong.
 */
const MAX_LOGIN_PAUSE_MS = 24 * 60 * 60_000;

const PORTAL = 'discord.com/developers/applications → your application → Bot';

/** discord.js's messages for the gateway's close codes, and for status 401 from the API. */
const CODE_OF_MESSAGE: readonly (readonly [RegExp, number])[] = [
  [/invalid token|authentication failed/i, 4004],
  [/invalid shard/i, 4010],
  [/sharding is required/i, 4011],
  [/invalid API version/i, 4012],
  [/invalid intents/i, 4013],
  [/disallowed intents/i, 4014],
];

/** The gateway's close code if the Message Content Intent is not enabled. */
export const NO_CONTENT = 4014;

const GIVE_UP: ReadonlyMap<number, readonly [reason: string, fix: string]> = new Map([
  [
    4004,
    [
      'Discord refuses the bot token',
      `Open ${PORTAL}, press "Reset Token", put the new token into channels.discord.token and save the settings file.`,
    ],
  ],
  [4010, ['Discord refuses the shard', 'Set channels.discord.shards to auto.']],
  [
    4011,
    [
      'The bot is in too many servers for this number of shards',
      'Set channels.discord.shards to auto.',
    ],
  ],
  [4012, ['Discord no longer supports this API version', 'Update Parley.']],
  [4013, ['Discord does not know a requested intent', 'Update Parley.']],
  [
    NO_CONTENT,
    [
      'the Message Content Intent is not enabled for this bot',
      `Open ${PORTAL} → Privileged Gateway Intents, switch "Message Content Intent" on, save, and ${RECONNECT}. Or set channels.discord.messageContent to false: then only direct messages and messages that mention the bot can be read.`,
    ],
  ],
]);

/**
 * Decides what to do after the nth failure in a row, counted from 0. `random` is in [0, 1), `now`
 * in ms. Gives up if a person has to act, because Discord resets the token of a bot that keeps
 * logging in.
 */
export function decideAfterConnectionFailure(
  { reason, closeCode, retryAfterMs }: ConnectionClosure,
  failures: number,
  random: number,
  now: number,
): ConnectionFailureDecision {
  const code = closeCode ?? CODE_OF_MESSAGE.find(([message]) => message.test(reason))?.[1];
  const final = code === undefined ? undefined : GIVE_UP.get(code);
  if (final !== undefined) return { kind: 'give-up', reason: final[0], fix: final[1] };
  const [, resetsAt] = /sessions remaining.*resets at (\S+)/i.exec(reason) ?? [];
  if (resetsAt !== undefined) {
    const untilReset = Math.min(Date.parse(resetsAt) - now, MAX_LOGIN_PAUSE_MS);
    const afterMs = Math.max(BETWEEN_LOGINS_MS, untilReset);
    return { kind: 'retry', afterMs, reason: `no logins are left for today: ${reason}` };
  }
  const afterMs = retryAfterMs ?? computeReconnectBackoff(failures, random);
  return { kind: 'retry', afterMs, reason: `Discord cannot be reached: ${reason}` };
}
