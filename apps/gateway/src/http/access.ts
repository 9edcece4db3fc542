import { sameSecret } from '@parley/channels';
import { type Role, roleIncludes } from '@parley/core';
import type { Context } from 'hono';
import type { Door, DoorOptions, RequestRefusal } from './door.ts';
import {
  type PageSessions,
  type RequestCaller,
  SESSION_SECRET,
  SIGN_IN_TOKEN,
} from './page-sessions.ts';

/** What the routes know about a request in addition to the request itself. */
export interface AppEnv {
  readonly Bindings: {
    readonly incoming?: { readonly socket: { remoteAddress?: string | undefined } };
  };
  readonly Variables: { caller: RequestCaller };
}

/** The facts that decide which requests are admitted. */
export interface AccessOptions extends DoorOptions {
  /** The current token; it may be rotated at any time. */
  readonly token: () => string;
  /** The address on which the server listens; it decides which host names are accepted. */
  readonly host: string;
}

/**
 * Decides who may do what (U03). The token, or a session of the page, must arrive as
 * `Authorization: Bearer …`. Whatever a browser sends by itself (cookies) or keeps in its history
 * (addresses) grants no access.
 */
export function createAccess({ token, host }: AccessOptions, door: Door) {
  return {
    /** Null when it is the token. */
    checkToken(c: Context<AppEnv>, given: string): RequestRefusal | null {
      return sameSecret(given, token()) ? null : door.refuseWrong(c, WRONG_TOKEN);
    },
    /** Refuses an unknown token of a named sign-in. */
    refuseSignIn: (c: Context<AppEnv>): RequestRefusal => door.refuseWrong(c, REVOKED),
    /** The reason to refuse a request, whatever its path: a foreign host name or origin. */
    checkPlace(c: Context<AppEnv>): RequestRefusal | null {
      const facts = { host: c.req.header('host'), origin: c.req.header('origin') };
      const message = findRefusal(facts, host);
      return message === null ? null : { status: 403, message };
    },
    /** Authenticates the caller. Without `sessions`, only the token is accepted. */
    async admit(
      c: Context<AppEnv>,
      sessions?: PageSessions,
    ): Promise<RequestCaller | RequestRefusal> {
      const given = parseBearer(c);
      if (given === undefined) return { status: 401, message: NO_TOKEN };
      if (sessions !== undefined && SESSION_SECRET.test(given)) {
        const caller = await sessions.admit(given);
        if (caller !== null) return caller;
        // On 401 the page asks the person to sign in. An expired session does not count as a wrong
        // token: several requests from a browser's tabs may be in progress when it expires, and a
        // person who then mistypes the token would have to wait. Against guessing 256 bits,
        // counting would make no difference.
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

/** Whether the caller's role includes `least`; false without a caller. */
export function callerMayAs(c: Context<AppEnv>, least: Role): boolean {
  const caller: RequestCaller | undefined = c.get('caller');
  return caller !== undefined && roleIncludes(caller.role, least);
}

/** Answers a caller whose role is not sufficient. */
export function refuseRole(c: Context<AppEnv>, needed: Role): Response {
  const { signIn, role } = c.get('caller');
  const error = `This needs the role ${needed}; ${signIn?.name ?? 'this'} is ${role}.`;
  return c.json({ error, role: needed }, 403, { 'cache-control': 'no-store' });
}

const NO_TOKEN =
  'Sign in on the page, or send the token as "Authorization: Bearer …"; "parley token show" prints it.';
const WRONG_TOKEN =
  'This is not the token of this gateway. It may belong to another data folder, be incomplete, or have been replaced.';
const SESSION_OVER = 'This session has ended. Sign in again.';
/** For a person's token that is not valid. */
const REVOKED = 'This token was revoked or belongs to another gateway. Ask an owner for a new one.';

/** Answers a refused request with a single line. */
export function refuse(
  c: Context,
  { status, message, retryAfterSeconds }: RequestRefusal,
): Response {
  c.header('cache-control', 'no-store');
  if (status === 401) c.header('www-authenticate', 'Bearer');
  if (retryAfterSeconds !== undefined) c.header('retry-after', String(retryAfterSeconds));
  return c.text(`${message}\n`, status);
}

/** Returns the text after `Bearer`. */
export function parseBearer(c: Context): string | undefined {
  return /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1];
}

const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The reason to refuse a request whatever credentials it carries, or null (U03): it used a foreign
 * host name or came from a page of another origin. `boundHost` is the address on which the server
 * listens.
 */
export function findRefusal(
  { host, origin }: Readonly<Record<'host' | 'origin', string | undefined>>,
  boundHost: string,
): string | null {
  // Other sites reach loopback servers through a foreign name that resolves to this machine.
  if (!isOwnName(host, boundHost)) {
    return 'Open this page by its own address, which "parley token show" prints.';
  }
  return isOwnOrigin(origin, host) ? null : 'Requests from other sites are not accepted.';
}

/**
 * Browsers name the origin of a page here, including pages served by other programs on this
 * machine.
 */
function isOwnOrigin(origin: string | undefined, host: string | undefined): boolean {
  // Programs send no origin, nor do browsers for pages that a person opens directly.
  if (origin === undefined) return true;
  // The scheme differs behind a proxy that terminates TLS.
  return origin === `http://${host}` || origin === `https://${host}`;
}

function isOwnName(host: string | undefined, boundHost: string): boolean {
  if (host === undefined) return false;
  const name = host.replace(/:\d+$/, '');
  // Serving other machines requires an explicit setting, and its operator knows the host names.
  const servesBeyond = !LOCAL_NAMES.has(boundHost) && boundHost !== '::1';
  return servesBeyond || LOCAL_NAMES.has(name);
}
