import { createHash, timingSafeEqual } from 'node:crypto';
import type { Logger, Monotonic } from '@parley/core';
import type { PageSession, Role } from '@parley/store';
import type { Context } from 'hono';
import type { AgentServices } from './agent-routes.ts';
import { type Caller, type PageSessions, SESSION_SECRET, SIGN_IN_TOKEN } from './page-sessions.ts';
import { includes } from './roles.ts';

/** What the routes know of a request besides the request. */
export interface AppEnv {
  readonly Bindings: {
    readonly incoming?: { readonly socket: { remoteAddress?: string | undefined } };
  };
  /** `agent`: what the agent has that the request names. */
  readonly Variables: { caller: Caller; agent: AgentServices };
}

/** A refused request, with the reason as a text for people. */
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
  readonly monotonic: Monotonic;
  readonly log: Logger;
}

/**
 * Who may do what (U03). The token, or a session of the page, comes as `Authorization: Bearer …`: what a
 * browser sends by itself (cookies) or keeps in histories (addresses) opens nothing.
 */
export function createAccess({ token, host, monotonic, log }: AccessOptions) {
  const wrong = createWrongTokens(monotonic);

  /** Null: it is the token. While a caller has to wait, tokens are not compared. */
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
    /** A door with tokens of its own: wrong ones (401) slow their sender down as those of the page do. */
    async guardOwn(
      c: Context<AppEnv>,
      answer: () => Promise<Response>,
    ): Promise<Response | Refusal> {
      const sender = senderOf(c);
      const waitMs = wrong.waitMs(sender);
      if (waitMs > 0) return tooMany(Math.ceil(waitMs / 1_000));
      const response = await answer();
      if (response.status === 401) wrong.wrong(sender);
      return response;
    },
    /** Why a request is refused wherever it goes: a foreign name or origin. */
    checkPlace(c: Context<AppEnv>): Refusal | null {
      const facts = { host: c.req.header('host'), origin: c.req.header('origin') };
      const message = refusalOf(facts, host);
      return message === null ? null : { status: 403, message };
    },
    /** Who asks; without `sessions` only the token opens. Other secrets never wait for wrong tokens of others. */
    async admit(c: Context<AppEnv>, sessions?: PageSessions): Promise<Caller | Refusal> {
      const given = bearerOf(c);
      if (given === undefined) return { status: 401, message: NO_TOKEN };
      if (sessions !== undefined && SESSION_SECRET.test(given)) {
        return (await sessions.admit(given)) ?? { status: 401, message: SESSION_OVER };
      }
      if (sessions !== undefined && SIGN_IN_TOKEN.test(given)) {
        const signIn = await sessions.signInOf(given);
        if (signIn === null) return { status: 401, message: REVOKED };
        return { session: null, signIn, role: signIn.role };
      }
      return checkToken(c, given) ?? { session: null, signIn: null, role: 'owner' };
    },
  };
}

/** Whether the caller of a guarded route may do what `least` may; without a guard it is the command line, on the data. */
export function mayAs(c: Context<AppEnv>, least: Role): boolean {
  const caller: Caller | undefined = c.get('caller');
  return caller === undefined || includes(caller.role, least);
}

/** Answers a request of somebody whose role is too small. */
export function refuseRole(c: Context<AppEnv>, needed: Role): Response {
  const { signIn, role } = c.get('caller');
  const error = `This needs the role ${needed}; ${signIn?.name ?? 'this'} is ${role}.`;
  return c.json({ error, role: needed }, 403, { 'cache-control': 'no-store' });
}

const NO_TOKEN =
  'Sign in on the page, or send the token as "Authorization: Bearer …"; "parley token show" prints it.';
const WRONG_TOKEN =
  'That token is not the one of this gateway. It may be from another data folder, cut off, or replaced since.';
const SESSION_OVER = 'This session has ended. Sign in again.';
/** Of a token of a person that opens nothing. */
export const REVOKED =
  'That token was revoked, or is of another gateway. Ask an owner for a new one.';

export function tooMany(seconds: number): Refusal {
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

/** The text after `Bearer`. */
export function bearerOf(c: Context): string | undefined {
  return /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1];
}

/** Compares in constant time; lengths are hidden by hashing first. */
export function sameSecret(given: string, expected: string): boolean {
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

export function senderOf(c: Context<AppEnv>): TokenSender {
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

const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Why a request is refused whatever it carries, null if it is not (U03): it came by a foreign name, or
 * from a page of another origin. `boundHost` is the address we listen on.
 */
export function refusalOf(
  { host, origin }: Readonly<Record<'host' | 'origin', string | undefined>>,
  boundHost: string,
): string | null {
  // A foreign name that resolves to this machine is how other sites reach loopback servers.
  if (!isOwnName(host, boundHost)) {
    return 'Open this page by its own address; "parley token show" prints it.';
  }
  return isOwnOrigin(origin, host) ? null : 'Requests from other sites are not taken.';
}

/** Pages of other sites name themselves here, as do those of other programs on this machine. */
function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  // Absent from programs and from what a browser opens by itself.
  if (origin === undefined) return true;
  // Behind a proxy that speaks TLS the scheme differs.
  return origin === `http://${host}` || origin === `https://${host}`;
}

function isOwnName(host: string | undefined, boundHost: string): boolean {
  if (host === undefined) return false;
  const name = host.replace(/:\d+$/, '');
  // Serving beyond this machine is an explicit setting, and its operator knows the names.
  const servesBeyond = !LOCAL_NAMES.has(boundHost) && boundHost !== '::1';
  return servesBeyond || LOCAL_NAMES.has(name);
}

/** Who sends a token, as far as it can be known. */
export interface TokenSender {
  /** Address, and whether a proxy is in front of it. */
  readonly name: string;
  /** A program of this machine, without a proxy; the sum of all wrong tokens does not slow it down. */
  readonly isLocal: boolean;
}

interface Tries {
  readonly count: number;
  readonly at: number;
}

/** So many wrong tokens cost nothing; each further one doubles the wait, from a second up to the longest. */
interface Patience {
  readonly free: number;
  readonly longestMs: number;
}

const ONE_SENDER: Patience = { free: 5, longestMs: 5 * 60_000 };
/** Short: it also meets people who have the token. */
const ALL_SENDERS: Patience = { free: 50, longestMs: 15_000 };
/** Without another wrong token for so long all is forgotten. In ms. */
const FORGOTTEN_AFTER_MS = 15 * 60_000;
/** Of more senders the least recent ones are forgotten; the sum is not. */
const MOST_SENDERS = 1_000;

const NONE: Tries = { count: 0, at: 0 };

/** How long the next token has to wait, in ms. */
function waitAfter({ count, at }: Tries, now: number, { free, longestMs }: Patience): number {
  if (count <= free || now - at > FORGOTTEN_AFTER_MS) return 0;
  const pause = Math.min(1_000 * 2 ** Math.min(count - free - 1, 20), longestMs);
  return Math.max(0, at + pause - now);
}

function oneMore({ count, at }: Tries, now: number): Tries {
  return { count: now - at > FORGOTTEN_AFTER_MS ? 1 : count + 1, at: now };
}

/** Slows the guessing of tokens down, for each sender and in total. While one waits nothing is compared. */
export function createWrongTokens(monotonic: Monotonic) {
  const senders = new Map<string, Tries>();
  let all = NONE;
  return {
    /** How long this sender's next token has to wait, in ms. */
    waitMs({ name, isLocal }: TokenSender): number {
      const now = monotonic();
      const own = waitAfter(senders.get(name) ?? NONE, now, ONE_SENDER);
      return isLocal ? own : Math.max(own, waitAfter(all, now, ALL_SENDERS));
    },
    wrong({ name }: TokenSender): void {
      const now = monotonic();
      const tries = oneMore(senders.get(name) ?? NONE, now);
      senders.delete(name);
      senders.set(name, tries);
      const [oldest] = senders.keys();
      if (senders.size > MOST_SENDERS && oldest !== undefined) senders.delete(oldest);
      all = oneMore(all, now);
    },
    right: ({ name }: TokenSender): void => void senders.delete(name),
    /** How many senders are remembered. */
    size: (): number => senders.size,
  };
}
