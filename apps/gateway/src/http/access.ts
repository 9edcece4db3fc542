import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock, Logger } from '@parley/contracts';
import type { PageSession } from '@parley/store';
import type { Context } from 'hono';
import { refusalOf } from './guard.ts';
import { type PageSessions, SESSION_SECRET } from './page-sessions.ts';
import { createWrongTokens, type TokenSender } from './wrong-tokens.ts';

/** Who a request comes from. */
export type Caller =
  | { readonly kind: 'token' }
  | { readonly kind: 'session'; readonly session: PageSession };

/** What the routes know of a request besides the request. */
export interface AppEnv {
  readonly Bindings: {
    readonly incoming?: { readonly socket: { remoteAddress?: string | undefined } };
  };
  readonly Variables: { caller: Caller };
}

/** A request that is not answered, and why, in words for people. */
export interface Refusal {
  readonly status: 401 | 403 | 429;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/** What decides about requests. */
export interface AccessOptions {
  /** The token as it is now; it may be rotated at any time. */
  readonly token: () => string;
  /** The address listened on; decides which names are our own. */
  readonly host: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Who may do what (U03). The token, or a session of the page, comes as `Authorization: Bearer …`: what a
 * browser sends by itself (cookies) or keeps in histories (addresses) opens nothing.
 */
export function createAccess({ token, host, clock, log }: AccessOptions) {
  const wrong = createWrongTokens(clock);

  /** Null: it is the token. Tokens of somebody who has to wait are not even compared. */
  function checkToken(c: Context<AppEnv>, given: string): Refusal | null {
    const sender = senderOf(c);
    const waitMs = wrong.waitMs(sender);
    if (waitMs > 0) return tooMany(Math.ceil(waitMs / 1_000));
    if (sameSecret(given, token())) {
      wrong.right(sender);
      return null;
    }
    wrong.wrong(sender);
    log.warn({ from: sender.name }, 'a wrong token was sent');
    return { status: 401, message: WRONG_TOKEN };
  }

  return {
    checkToken,
    /** Why a request is refused wherever it goes: a foreign name or origin. */
    checkPlace(c: Context<AppEnv>): Refusal | null {
      const facts = { host: c.req.header('host'), origin: c.req.header('origin') };
      const message = refusalOf(facts, host);
      return message === null ? null : { status: 403, message };
    },
    /** Who asks; without `sessions` only the token opens. Sessions never wait for wrong tokens of others. */
    async admit(c: Context<AppEnv>, sessions?: PageSessions): Promise<Caller | Refusal> {
      const given = bearerOf(c);
      if (given === undefined) return { status: 401, message: NO_TOKEN };
      if (sessions !== undefined && SESSION_SECRET.test(given)) {
        const session = await sessions.admit(given);
        if (session === null) return { status: 401, message: SESSION_OVER };
        return { kind: 'session', session };
      }
      return checkToken(c, given) ?? { kind: 'token' };
    },
  };
}

const NO_TOKEN =
  'Sign in on the page, or send the token as "Authorization: Bearer …"; "parley token show" prints it.';
const WRONG_TOKEN =
  'That token is not the one of this gateway. It may be from another data folder, cut off, or replaced since.';
const SESSION_OVER = 'This session has ended. Sign in again.';

function tooMany(seconds: number): Refusal {
  const message = `Too many wrong tokens. Try again in ${seconds === 1 ? '1 second' : `${seconds} seconds`}.`;
  return { status: 429, message, retryAfterSeconds: seconds };
}

/** Answers a request that is not taken, in one line. */
export function refuse(c: Context, { status, message, retryAfterSeconds }: Refusal): Response {
  c.header('cache-control', 'no-store');
  if (status === 401) c.header('www-authenticate', 'Bearer');
  if (retryAfterSeconds !== undefined) c.header('retry-after', String(retryAfterSeconds));
  return c.text(`${message}\n`, status);
}

/** What stands behind `Bearer`. */
function bearerOf(c: Context): string | undefined {
  return /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1];
}

/** Compares in constant time; lengths are hidden by hashing first. */
function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** Where a request comes from: what a proxy passes on comes from the proxy, whatever its headers say. */
export function networkOf(c: Context<AppEnv>): PageSession['network'] {
  if (c.req.header('forwarded') ?? c.req.header('x-forwarded-for')) return 'proxy';
  const address = addressOf(c);
  if (/^(127\.|::1$|$)/.test(address)) return 'this-machine';
  if (/^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|f[cd]|fe[89ab])/i.test(address)) {
    return 'local-network';
  }
  return 'internet';
}

function senderOf(c: Context<AppEnv>): TokenSender {
  const network = networkOf(c);
  const address = addressOf(c);
  // One household has 2^64 addresses of IPv6.
  const household = address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
  return { name: `${network} ${household}`, isLocal: network === 'this-machine' };
}

/** Empty where there is none, as with a Unix socket. */
function addressOf(c: Context<AppEnv>): string {
  return (c.env?.incoming?.socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}
