import { signInPage } from '@parley/console';
import type { Context, Hono } from 'hono';
import { setCookie } from 'hono/cookie';
import { sameSecret } from './guard.ts';

/** The longest a browser keeps a cookie, in seconds. */
const COOKIE_SECONDS = 400 * 24 * 60 * 60;

/** Cookies are shared by all ports of a host, so two gateways must not overwrite each other's. */
export function sessionCookieName(host: string | undefined): string {
  return `parley-${/:(\d+)$/.exec(host ?? '')?.[1] ?? '80'}`;
}

/** `/?token=…` trades the token for a cookie and an address without it. */
export function addSignIn(app: Hono, token: string): void {
  app.get('/', async (c, next) => {
    const given = c.req.query('token')?.trim();
    if (given === undefined) return next();
    if (!sameSecret(given, token)) {
      return refuse(
        c,
        401,
        'That token is not the one of this gateway. It may be from another data folder, or cut off.',
      );
    }
    // Not `Secure`: the page is served without TLS on loopback, where browsers would drop it.
    setCookie(c, sessionCookieName(c.req.header('host')), token, {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge: COOKIE_SECONDS,
    });
    c.header('cache-control', 'no-store');
    return c.redirect('/', 303);
  });
}

/** Turns a request away: a page for people, one line for programs. */
export function refuse(c: Context, status: 401 | 403, message: string): Response {
  c.header('cache-control', 'no-store');
  const wantsPage = c.req.header('accept')?.includes('text/html') ?? false;
  if (status === 401 && wantsPage) return c.html(signInPage(message), status) as Response;
  return c.text(`${message}\n`, status);
}
