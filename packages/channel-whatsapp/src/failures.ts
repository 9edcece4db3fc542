import {
  type ConnectionFailureDecision,
  computeReconnectBackoff,
  RECONNECT,
} from '@parley/channels';
import { ChannelError, type ChannelFailure, ParleyError } from '@parley/core';
import { z } from 'zod';
import { maskNumbers } from './logs.ts';

/** Why a WhatsApp account cannot work until a person acts. */
type WhatsAppErrorCode =
  /** Credentials or keys in the database cannot be read. */
  'whatsapp-state-damaged';

/** An error in this package; the message includes advice. */
export class WhatsAppError extends ParleyError {
  constructor(code: WhatsAppErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}

/** The advice for an error in this package. */
export const FIX =
  'After restoring the database, start Parley again. A changed settings file is read when it is saved.';

const Boom = z.object({
  data: z.unknown(),
  output: z.object({ statusCode: z.int() }).optional(),
});

/**
 * The code in a Baileys error. `status` is the reason why a connection ended; `data` is the
 * server's response to a request.
 */
export function getBaileysCode(thrown: unknown, where: 'status' | 'data'): number | undefined {
  const boom = Boom.safeParse(thrown);
  if (!boom.success) return undefined;
  if (where === 'status') return boom.data.output?.statusCode;
  return typeof boom.data.data === 'number' ? boom.data.data : undefined;
}

/**
 * The wait (ms) after too many messages. WhatsApp does not state a time, and has blocked accounts
 * that continued.
 */
const SLOW_DOWN_MS = 60_000;

/** Why a message was not acknowledged. */
export type SendFailure =
  /** The server answered with an error and did not deliver the message. */
  | { readonly kind: 'refused'; readonly code: number }
  /** There is no connection to WhatsApp. */
  | { readonly kind: 'away' }
  /** The message was not sent, because the connection was lost or an earlier request failed. */
  | { readonly kind: 'not-sent'; readonly reason: string }
  /** The message was sent, but no response arrived. */
  | { readonly kind: 'unanswered'; readonly reason: string };

/**
 * Classifies an error that Baileys threw before it sent anything. If the server refused a request,
 * the code is from its response.
 */
export function toSendFailure(thrown: unknown): SendFailure {
  const code = getBaileysCode(thrown, 'data');
  if (code !== undefined && code >= 400 && code < 500) return { kind: 'refused', code };
  const reason = thrown instanceof Error ? maskNumbers(thrown.message) : 'unknown';
  return { kind: 'not-sent', reason };
}

/** Converts a failure into the error that the delivery loop handles. */
export function toWhatsAppSendError(failure: SendFailure, cause?: unknown): ChannelError {
  switch (failure.kind) {
    case 'away':
      return new ChannelError(
        { kind: 'transient', untried: true },
        'WhatsApp is not connected; the message will be sent once it is.',
        cause,
      );
    case 'not-sent':
      return new ChannelError(
        { kind: 'transient' },
        `WhatsApp could not be reached (${failure.reason}); Parley will try again.`,
        cause,
      );
    case 'unanswered':
      return new ChannelError(
        { kind: 'unknown-outcome' },
        `WhatsApp did not confirm the message: ${failure.reason}. It may have arrived.`,
        cause,
      );
    case 'refused': {
      const [kind, reason] = explainRefusal(failure.code);
      return new ChannelError(kind, `WhatsApp refuses the message (${failure.code}): ${reason}`);
    }
  }
}

function explainRefusal(code: number): [ChannelFailure, string] {
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
        'the account may write only to people who wrote to it; asking again makes this worse.',
      ];
    case 429:
      return [
        { kind: 'rate-limited', retryAfterMs: SLOW_DOWN_MS, scope: 'account' },
        'too many messages; it will be sent later.',
      ];
    default:
      return code >= 500
        ? [{ kind: 'transient' }, 'Parley will try again.']
        : [{ kind: 'refused' }, 'it will not be sent.'];
  }
}

/**
 * `forget` means that WhatsApp has removed the link, so the credentials must be deleted as well.
 */
type CloseDecision = ConnectionFailureDecision & { readonly forget?: boolean };

interface ConnectionClosure {
  /** The code from WhatsApp or Baileys; undefined when there is none. */
  readonly code: number | undefined;
  readonly reason: string;
  /** The number of consecutive failures before this one. */
  readonly failures: number;
  /** How many of the most recent consecutive failures had the code 500. */
  readonly brokenSessions: number;
}

/** The number of consecutive failures with the code 500 that indicates a broken session. */
const BROKEN_SESSION_LIMIT = 5;
const RELINK = `Link it with the phone again: ${RECONNECT}, and scan or type the new code with the phone.`;

/** Decides what to do based on the code. `random` is in [0, 1). */
export function decideAfterConnectionFailure(
  closing: ConnectionClosure,
  random: number,
): CloseDecision {
  const { code, reason, failures, brokenSessions } = closing;
  if (code === 515)
    return { kind: 'retry', afterMs: 0, reason: 'WhatsApp asks for a new connection' };
  if (code === 500 && brokenSessions + 1 >= BROKEN_SESSION_LIMIT) {
    return createGiveUpDecision('WhatsApp keeps ending the connection with code 500', UNLINK);
  }
  const final = code === undefined ? undefined : FINAL.get(code);
  if (final !== undefined) return final;
  return { kind: 'retry', afterMs: computeReconnectBackoff(failures, random), reason };
}

const UNLINK = `The link is broken: remove Parley under "Linked devices" on the phone, then ${RECONNECT}.`;

const FINAL: ReadonlyMap<number, CloseDecision> = new Map([
  [401, createGiveUpDecision('the phone, or WhatsApp, has unlinked this account', RELINK, true)],
  [
    403,
    createGiveUpDecision(
      'WhatsApp has blocked this account',
      'Open WhatsApp on the phone to see why.',
    ),
  ],
  [
    405,
    createGiveUpDecision(
      'WhatsApp no longer accepts this version of its client (405)',
      'Update Parley, or set channels.whatsapp.version to the version of WhatsApp Web.',
    ),
  ],
  [
    411,
    createGiveUpDecision(
      'the phone does not support linked devices (411)',
      `Update WhatsApp on the phone, then ${RECONNECT}.`,
    ),
  ],
  [
    440,
    createGiveUpDecision(
      'another program uses the same link to WhatsApp',
      `Stop the other program, or link each program with the phone separately; then ${RECONNECT}.`,
    ),
  ],
]);

function createGiveUpDecision(reason: string, fix: string, forget = false): CloseDecision {
  return { kind: 'give-up', reason, fix, forget };
}
