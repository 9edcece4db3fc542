import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import type { GuardFacts } from './guard.ts';
import { sessionCookieName } from './sign-in.ts';

/** What the guard asks of a request. */
export function guardFacts(c: Context): GuardFacts {
  const host = c.req.header('host');
  return {
    host,
    origin: c.req.header('origin'),
    cookie: getCookie(c, sessionCookieName(host)),
    authorization: c.req.header('authorization'),
  };
}
