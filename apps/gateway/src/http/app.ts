import type { HttpFacet } from '@parley/channels';
import { servePage } from '@parley/console';
import { type Logger, reasonOf } from '@parley/contracts';
import { Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { AccountStatus } from '../channel-account.ts';
import { guard, sameSecret } from './guard.ts';

/** What the routes show and guard. */
export interface HttpAppOptions {
  /** The address listened on; decides which names are our own. */
  readonly host: string;
  /** Secret that opens everything but health; at least 128 bits, base64url. */
  readonly token: string;
  readonly log: Logger;
  readonly metrics: () => Promise<string>;
  /** Decides readiness. */
  readonly status: () => readonly AccountStatus[];
  /** What `GET /api/status` answers, as JSON. */
  readonly report: () => Promise<object>;
  /** Rejects when the database does not answer. */
  readonly ping: () => Promise<void>;
  /** The routes of a channel account, if it has any. */
  readonly channel: (channel: string, account: string) => HttpFacet | undefined;
}

/** Cookies are shared by all ports of a host, so two gateways must not overwrite each other's. */
function cookieName(host: string | undefined): string {
  return `parley-${/:(\d+)$/.exec(host ?? '')?.[1] ?? '80'}`;
}

/** All routes of the gateway (D10, U03). Everything but health wants the token. */
export function createHttpApp(options: HttpAppOptions): Hono {
  const app = new Hono();
  addHealth(app, options);
  addLogin(app, options);
  app.use('*', async (c, next) => {
    const host = c.req.header('host');
    const { method } = c.req;
    const decision = guard(
      {
        method,
        host,
        origin: c.req.header('origin'),
        cookie: getCookie(c, cookieName(host)),
        authorization: c.req.header('authorization'),
      },
      options.token,
      options.host,
    );
    if (decision.kind === 'reject') return c.text(`${decision.message}\n`, decision.status);
    return next();
  });
  app.get('/metrics', async (c) => c.text(await options.metrics()));
  app.get('/api/status', async (c) => c.json(await options.report()));
  app.all('/channels/:channel/:account/*', async (c) => {
    const { channel, account } = c.req.param();
    const facet = options.channel(channel, account);
    if (!facet) return c.text(`There is no channel ${channel}/${account} with web routes.\n`, 404);
    return facet.fetch(c.req.raw);
  });
  app.get('*', (c) => servePage(c.req.path));
  app.onError((error, c) => {
    options.log.error({ path: c.req.path, error }, 'web request failed');
    return c.text('Something went wrong here; the log of the gateway says what.\n', 500);
  });
  return app;
}

/** Health is open: a supervisor has no token, and learns nothing but yes or no. */
function addHealth(app: Hono, options: HttpAppOptions): void {
  app.get('/healthz', (c) => c.text('ok\n'));
  app.get('/readyz', async (c) => {
    try {
      await options.ping();
    } catch (error) {
      options.log.warn({ reason: reasonOf(error) }, 'not ready');
      return c.text('the database does not answer\n', 503);
    }
    const waiting = options.status().filter(({ state }) => state.kind === 'starting');
    return waiting.length === 0 ? c.text('ready\n') : c.text('channels are connecting\n', 503);
  });
}

/** `/?token=…` trades the token for a cookie and an address without it. */
function addLogin(app: Hono, options: HttpAppOptions): void {
  app.get('/', async (c, next) => {
    const token = c.req.query('token');
    if (token === undefined) return next();
    if (!sameSecret(token, options.token)) {
      return c.text(
        'That token is not the one of this gateway. "parley start" prints the right address.\n',
        401,
      );
    }
    setCookie(c, cookieName(c.req.header('host')), token, {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge: 400 * 24 * 60 * 60,
    });
    return c.redirect('/', 303);
  });
}
