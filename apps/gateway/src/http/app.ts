import type { HttpFacet } from '@parley/channels';
import { createConsole, isOpenFile, SECURITY_HEADERS } from '@parley/console';
import { METRICS_CONTENT_TYPE } from '@parley/telemetry';
import { Hono } from 'hono';
import { type CronPage, cronRoutes } from './cron-routes.ts';
import { guard } from './guard.ts';
import { guardFacts } from './guard-facts.ts';
import { addHealth, type HealthOptions } from './health-routes.ts';
import { heartbeatRoutes, type ShownHeartbeat } from './heartbeat-routes.ts';
import { type PromptInspector, promptRoutes } from './prompt-routes.ts';
import { type RestoreWish, restoreRoutes } from './restore-routes.ts';
import { addSignIn, refuse } from './sign-in.ts';
import { type SoulPage, soulRoutes } from './soul-routes.ts';
import { type WhyDesk, whyRoutes } from './why-routes.ts';
import { addWorkRoutes, type Work } from './work-routes.ts';

/** What the routes show and guard. */
export interface HttpAppOptions extends HealthOptions {
  /** The address listened on; decides which names are our own. */
  readonly host: string;
  /** Secret that opens everything but health; at least 128 bits, base64url. */
  readonly token: string;
  readonly metrics: () => Promise<string>;
  /** What `GET /api/status` answers, as JSON. */
  readonly report: () => Promise<object>;
  /** What `/api/prompts` tells of past turns. */
  readonly inspector: PromptInspector;
  /** What `/api/heartbeat` tells and does. */
  readonly heartbeat: ShownHeartbeat;
  /** What `/api/cron` shows and does; without it there are no jobs. */
  readonly cron?: CronPage | undefined;
  /** What `/api/soul` shows and does; without it there is no such page. */
  readonly soul?: SoulPage | undefined;
  /** What `/api/dead` and `/api/queue` look at; without it there is no such page. */
  readonly work?: Work | undefined;
  /** What `/api/why` tells of messages. */
  readonly why?: WhyDesk | undefined;
  /** What `/api/restore` asks for; without it this process cannot restore. */
  readonly restore?: ((wish: RestoreWish) => void) | undefined;
  /** The routes of a channel account, if it has any. */
  readonly channel: (channel: string, account: string) => HttpFacet | undefined;
}

/** All routes of the gateway (D10, U03). Everything but health and looks wants the token. */
export function createHttpApp(options: HttpAppOptions): Hono {
  const app = new Hono();
  app.use('*', async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.header(name, value);
  });
  addHealth(app, options);
  addSignIn(app, options.token);
  // Before the guard: a platform that calls comes by a public name and has no token of ours.
  app.all('/channels/:channel/:account/*', async (c, next) => {
    const { channel, account } = c.req.param();
    const facet = options.channel(channel, account);
    return facet?.open ? facet.fetch(c.req.raw) : next();
  });
  app.use('*', async (c, next) => {
    const decision = guard(guardFacts(c), options.token, options.host);
    if (decision.kind === 'pass') return next();
    if (decision.status === 401 && isOpenFile(c.req.path)) return next();
    return refuse(c, decision.status, decision.message);
  });
  app.get('/metrics', async (c) =>
    c.body(await options.metrics(), 200, { 'content-type': METRICS_CONTENT_TYPE }),
  );
  app.get('/api/status', async (c) => c.json(await options.report()));
  app.route('/api/prompts', promptRoutes(options.inspector));
  app.route('/api/heartbeat', heartbeatRoutes(options.heartbeat));
  if (options.cron !== undefined) app.route('/api/cron', cronRoutes(options.cron));
  if (options.soul !== undefined) app.route('/api/soul', soulRoutes(options.soul));
  if (options.work !== undefined) addWorkRoutes(app, options.work);
  if (options.why !== undefined) app.route('/api/why', whyRoutes(options.why));
  if (options.restore !== undefined) app.route('/api/restore', restoreRoutes(options.restore));
  app.all('/channels/:channel/:account/*', async (c) => {
    const { channel, account } = c.req.param();
    const facet = options.channel(channel, account);
    if (!facet) return c.text(`There is no channel ${channel}/${account} with web routes.\n`, 404);
    return facet.fetch(c.req.raw);
  });
  app.route('/', createConsole());
  app.onError((error, c) => {
    options.log.error({ path: c.req.path, error }, 'web request failed');
    return c.text('Something went wrong here; the log of the gateway says what.\n', 500);
  });
  return app;
}
