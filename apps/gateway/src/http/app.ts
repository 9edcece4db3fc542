import type { HttpCapability } from '@parley/channels';
import type { Clock } from '@parley/core';
import { METRICS_CONTENT_TYPE } from '@parley/core/telemetry';
import type { Store } from '@parley/store';
import { Hono } from 'hono';
import type { OperationServices } from '../operations.ts';
import {
  type AccessOptions,
  type AppEnv,
  createAccess,
  createRefusalResponse,
  hasCallerRole,
  refuseInsufficientRole,
} from './access.ts';
import type { GatewayStatus } from './api.ts';
import { type ApiServices, addSignInRoute } from './api-routes.ts';
import { addConversationFileRoutes } from './conversation-files.ts';
import { createSecretVerifier } from './door.ts';
import { addHealthRoutes, type CheckHealth, type HealthOptions, openHealth } from './health.ts';
import { addOpenRoutes, FACET_PATH } from './open-routes.ts';
import { addOperationRoute } from './operation-routes.ts';
import { createPageSessions, type PageSessionOptions, type PageSessions } from './page-sessions.ts';
import { listReadableRoutes } from './roles.ts';
import { PAGE_PATH } from './scrubbed-app.ts';

/** The services behind the routes, and the options that protect them. */
export interface HttpAppOptions
  extends HealthOptions,
    AccessOptions,
    Omit<ApiServices, 'operations'> {
  /** The services for the operations, except for the app's own services. */
  readonly operations: Omit<OperationServices, 'pageSessions' | 'readableRoutes' | 'status'>;
  readonly clock: Clock;
  readonly store: Pick<Store, 'attachments' | 'agentFiles'>;
  readonly page: PageFiles;
  /** The sessions of browsers that are signed in to the page. */
  readonly sessions: Pick<PageSessionOptions, 'repository' | 'signIns' | 'limits'>;
  readonly metrics: (health: CheckHealth) => Promise<string>;
  /** Creates the response for the operation `status/report`. */
  readonly report: (health: CheckHealth) => Promise<GatewayStatus>;
  /** Returns the routes of a channel account, if it has any. */
  readonly channel: (channel: string, account: string) => HttpCapability | undefined;
}

/** Serves `/` and `/page/*`. */
export interface PageFiles {
  fetch(request: Request): Response | Promise<Response>;
}

/**
 * Headers for every response. With them, the page can load content only from its own host, does not
 * run inline scripts, cannot be framed, and does not send a referrer to other sites. If the
 * Markdown renderer let hostile text through, these headers would keep that text from doing harm.
 */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'self'",
    // Images that require the session are fetched with it and shown from memory.
    "img-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/**
 * Creates all routes of the gateway (D10, U03). All routes require a token or a session, except
 * health and the page's own files, which do not contain secrets. Each operation declares its role,
 * and metrics are open to every role. All other routes, such as web chats and any added later, are
 * for owners only.
 */
export function createHttpApp(options: HttpAppOptions): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  const door = createSecretVerifier(options);
  const access = createAccess(options, door);
  const sessions = createPageSessions({ ...options, ...options.sessions });
  const { page } = options;
  const health = openHealth(options);
  app.use('*', async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.header(name, value);
  });
  addHealthRoutes(app, health);
  addOpenRoutes(app, options, door);
  app.use('*', async (c, next) => {
    const refusal = access.checkPlace(c);
    return refusal === null ? next() : createRefusalResponse(c, refusal);
  });
  addSignInRoute(app, access, sessions);
  for (const path of ['/', PAGE_PATH]) app.get(path, (c) => page.fetch(c.req.raw));
  addAccessGuard(app, access, sessions, {
    ...options.operations,
    pageSessions: async () => sessions,
    readableRoutes: listReadableRoutes,
    status: () => options.report(health),
  });
  app.get('/metrics', async (c) =>
    c.body(await options.metrics(health), 200, { 'content-type': METRICS_CONTENT_TYPE }),
  );
  app.use('*', async (c, next) =>
    hasCallerRole(c, 'owner') ? next() : refuseInsufficientRole(c, 'owner'),
  );
  addConversationFileRoutes(app, options.store);
  app.all(FACET_PATH, async (c) => {
    const { channel, account } = c.req.param();
    const routes = options.channel(channel, account);
    if (!routes) return c.text(`There is no channel ${channel}/${account} with web routes.\n`, 404);
    const response = await routes.fetch(c.req.raw);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    return sessions.untilEnded(response, c.get('caller'));
  });
  app.onError((error, c) => {
    options.log.error({ path: c.req.path, error }, 'web request failed');
    return c.text("Something went wrong. See the gateway's log for details.\n", 500);
  });
  return app;
}

/**
 * All routes added from here on require an authenticated caller. The operations are added first;
 * each of them declares its role.
 */
function addAccessGuard(
  app: Hono<AppEnv>,
  access: ReturnType<typeof createAccess>,
  sessions: PageSessions,
  services: OperationServices,
): void {
  app.use('*', async (c, next) => {
    const caller = await access.admit(c, sessions);
    if ('status' in caller) return createRefusalResponse(c, caller);
    c.set('caller', caller);
    return next();
  });
  addOperationRoute(app, services);
}
