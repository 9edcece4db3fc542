import { isSameSecretText } from '@parley/channels';
import { isRoleAtLeast, type Role } from '@parley/core';
import type { Context } from 'hono';
import type { RequestRefusal, SecretVerifier, SecretVerifierOptions } from './door.ts';
import {
  type PageSessions,
  type RequestCaller,
  SESSION_SECRET,
  SIGN_IN_TOKEN,
} from './page-sessions.ts';

/** What the access check adds to a request for the routes. */
export interface AppEnv {
  readonly Bindings: {
    readonly incoming?: { readonly socket: { remoteAddress?: string | undefined } };
  };
  readonly Variables: { caller: RequestCaller };
}

/** What the access check needs in order to decide. */
export interface AccessOptions extends SecretVerifierOptions {
  /** Returns the current token, which may be replaced at any time. */
  readonly token: () => string;
  /** The address on which the server listens. It determines which host names the server accepts. */
  readonly host: string;
}

/**
 * Creates the access check, which decides who may use which route (U03). The token or a page
 * session must be sent as `Authorization: Bearer …`. Cookies and URLs grant no access, because
 * browsers send cookies automatically and keep URLs in their history.
 */
export function createAccess({ token, host }: AccessOptions, door: SecretVerifier) {
  return {
    /** Checks the gateway token; returns null if it is correct. */
    checkToken(c: Context<AppEnv>, given: string): RequestRefusal | null {
      return isSameSecretText(given, token()) ? null : door.refuseWrong(c, WRONG_TOKEN);
    },
    /** Refuses an unknown sign-in token of a person. */
    refuseSignIn: (c: Context<AppEnv>): RequestRefusal => door.refuseWrong(c, REVOKED),
    /**
     * Returns the reason to refuse a request on any path: a foreign host name or a foreign origin.
     */
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
        // In response to status 401, the page asks the person to sign in. An expired session does
        // not count as a failed attempt. Several requests from a browser's tabs may be in progress
        // when the session expires. If they counted, a person who then mistypes the token would be
        // throttled. Sessions have 256 random bits, so counting failed attempts would not add
        // protection.
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

/** Returns whether the caller's role includes `least`; false without a caller. */
export function hasCallerRole(c: Context<AppEnv>, least: Role): boolean {
  const caller: RequestCaller | undefined = c.get('caller');
  return caller !== undefined && isRoleAtLeast(caller.role, least);
}

/** Responds to a caller whose role is not sufficient. */
export function refuseInsufficientRole(c: Context<AppEnv>, needed: Role): Response {
  const { signIn, role } = c.get('caller');
  const error = `This needs the role ${needed}; ${signIn?.name ?? 'this'} is ${role}.`;
  return c.json({ error, role: needed }, 403, { 'cache-control': 'no-store' });
}

const NO_TOKEN =
  'Sign in on the page, or send the token as "Authorization: Bearer …"; "parley token show" prints it.';
const WRONG_TOKEN =
  'This is not the token of this gateway. It may belong to another data folder, be incomplete, or have been replaced.';
const SESSION_OVER = 'This session has ended. Sign in again.';
/** The message for a person's invalid token. */
const REVOKED = 'This token was revoked or belongs to another gateway. Ask an owner for a new one.';

/** Responds to a refused request with a single line. */
export function createRefusalResponse(
  c: Context,
  { status, message, retryAfterSeconds }: RequestRefusal,
): Response {
  c.header('cache-control', 'no-store');
  if (status === 401) c.header('www-authenticate', 'Bearer');
  if (retryAfterSeconds !== undefined) c.header('retry-after', String(retryAfterSeconds));
  return c.text(`${message}\n`, status);
}

/** Returns the text after `Bearer` in the `Authorization` header. */
export function parseBearer(c: Context): string | undefined {
  return /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '')?.[1];
}

const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Returns why a request must be refused regardless of its credentials, or null (U03). The reasons
 * are a foreign host name and a page from another origin. `boundHost` is the address on which the
 * server listens.
 */
export function findRefusal(
  { host, origin }: Readonly<Record<'host' | 'origin', string | undefined>>,
  boundHost: string,
): string | null {
  // Other sites can reach a loopback server through a foreign host name that resolves to this
  // machine.
  if (!isAllowedHost(host, boundHost)) {
    return 'Open this page at its own address, which "parley token show" prints.';
  }
  return isSameOrigin(origin, host) ? null : 'Requests from other sites are not accepted.';
}

/**
 * Browsers send the origin of the requesting page, including pages served by other programs on this
 * machine.
 */
function isSameOrigin(origin: string | undefined, host: string | undefined): boolean {
  // Programs do not send an origin, and neither do browsers when a person opens a page directly.
  if (origin === undefined) return true;
  // Behind a proxy that terminates TLS, the scheme differs.
  return origin === `http://${host}` || origin === `https://${host}`;
}

function isAllowedHost(host: string | undefined, boundHost: string): boolean {
  if (host === undefined) return false;
  const name = host.replace(/:\d+$/, '');
  // Serving other machines requires an explicit setting, so the operator chose the host names
  // deliberately.
  const servesBeyond = !LOCAL_NAMES.has(boundHost) && boundHost !== '::1';
  return servesBeyond || LOCAL_NAMES.has(name);
}
