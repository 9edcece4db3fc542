import { createHash, timingSafeEqual } from 'node:crypto';

/** What the guard knows of a request. */
export interface GuardFacts {
  /** The `Host` header. */
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** The value of the session cookie. */
  readonly cookie: string | undefined;
  readonly authorization: string | undefined;
}

/** Let in, or turned away with a status and a sentence for people. 401 can be mended by signing in. */
export type GuardDecision =
  | { readonly kind: 'pass' }
  | { readonly kind: 'reject'; readonly status: 401 | 403; readonly message: string };

const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Decides whether a request may do anything but ask for health (U03): the token by cookie or bearer,
 * from a page of our own. `boundHost` is the address we listen on.
 */
export function guard(facts: GuardFacts, token: string, boundHost: string): GuardDecision {
  if (!isOwnName(facts.host, boundHost)) {
    // A foreign name that resolves to this machine is how other sites reach loopback servers.
    return {
      kind: 'reject',
      status: 403,
      message: 'Open this page by its address, as "parley start" printed it.',
    };
  }
  if (!isOwnOrigin(facts.origin, facts.host)) {
    return { kind: 'reject', status: 403, message: 'Requests from other sites are not taken.' };
  }
  const bearer = /^Bearer (.+)$/.exec(facts.authorization ?? '')?.[1];
  if (sameSecret(bearer ?? facts.cookie, token)) return { kind: 'pass' };
  return {
    kind: 'reject',
    status: 401,
    message: 'This needs the token of the gateway: open the address that "parley start" printed.',
  };
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
  // Somebody who serves beyond this machine chose that on purpose and knows its names.
  const servesBeyond = !LOCAL_NAMES.has(boundHost) && boundHost !== '::1';
  return servesBeyond || LOCAL_NAMES.has(name);
}

/** Compares in constant time; lengths are hidden by hashing first. */
export function sameSecret(given: string | undefined, expected: string): boolean {
  if (given === undefined) return false;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
