import { sameSecret } from '@parley/channels';
import { type Role, roleIncludes } from '@parley/core';
import type { Context } from 'hono';
import type { Door, DoorOptions, Refusal } from './door.ts';
import { type Caller, type PageSessions, SESSION_SECRET, SIGN_IN_TOKEN } from './page-sessions.ts';

/** What the routes know of a request besides the request. */
export interface AppEnv {
  readonly Bindings: {
    readonly incoming?: { readonly socket: { remoteAddress?: string | undefined } };
  };
  readonly Variables: { caller: Caller };
}

/** What decides about requests. */
export interface AccessOptions extends DoorOptions {
  /** The token as it is now; it may be rotated at any time. */
  readonly token: () => string;
  /** The address listened on; decides which names are our own. */
  readonly host: string;
}

/**
 * Who may do what (U03). The token, or a session of the page, comes as `Authorization: Bearer …`: what a
 * browser sends by itself (cookies) or keeps in histories (addresses) opens nothing.
 */
export function createAccess({ token, host }: AccessOptions, door: Door) {
  return {
    /** Null: it is the token. */
    checkToken(c: Context<AppEnv>, given: string): Refusal | null {
      return sameSecret(given, token()) ? null : door.refuseWrong(c, WRONG_TOKEN);
    },
    /** Refuses the token of a named sign-in that opens nothing. */
    refuseSignIn: (c: Context<AppEnv>): Refusal => door.refuseWrong(c, REVOKED),
    /** Why a request is refused wherever it goes: a foreign name or origin. */
    checkPlace(c: Context<AppEnv>): Refusal | null {
      const facts = { host: c.req.header('host'), origin: c.req.header('origin') };
      const message = refusalOf(facts, host);
      return message === null ? null : { status: 403, message };
    },
    /** Authenticates the caller. Without `sessions`, only the token is accepted. */
    async admit(c: Context<AppEnv>, sessions?: PageSessions): Promise<Caller | Refusal> {
      const given = bearerOf(c);
      if (given === undefined) return { status: 401, message: NO_TOKEN };
      if (sessions !== undefined && SESSION_SECRET.test(given)) {
        const caller = await sessions.admit(given);
        if (caller !== null) return caller;
        // On 401 the page asks its reader to sign in. Not counted as wrong: the tabs of a browser have several requests
        // under way when its session ends, and who then mistypes the token would wait. No count hinders guessing 256 bits.
        return { status: 401, message: SESSION_OVER };
      }
      if (sessions !== undefined && SIGN_IN_TOKEN.test(given)) {
        const signIn = await sessions.signInOf(given);
        if (signIn === null) return door.refuseWrong(c, REVOKED);
        return { session: null, signIn, role: signIn.role };
      }
      return this.checkToken(c, given) ?? { session: null, signIn: null, role: 'owner' };
    },
  };
}

/** Whether the role of the caller includes `least`. No caller: false. */
export function mayAs(c: Context<AppEnv>, least: Role): boolean {
  const caller: Caller | undefined = c.get('caller');
  return caller !== undefined && roleIncludes(caller.role, least);
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
const REVOKED = 'That token was revoked, or is of another gateway. Ask an owner for a new one.';

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
