import { METRICS_CONTENT_TYPE } from '@parley/telemetry';
import { Hono } from 'hono';
import { type AccessOptions, type AppEnv, createAccess, refuse } from './access.ts';
import { addHealth, type HealthOptions } from './health-routes.ts';

/** What a process without channels shows of itself. */
export interface HealthAppOptions extends Omit<HealthOptions, 'status'>, AccessOptions {
  readonly metrics: () => Promise<string>;
}

/** `/healthz`, `/readyz` for everybody and `/metrics` for whoever has the token (D10). */
export function createHealthApp(options: HealthAppOptions): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  const access = createAccess(options);
  addHealth(app, { ...options, status: () => [] });
  app.get('/metrics', async (c) => {
    const caller = access.checkPlace(c) ?? (await access.admit(c));
    if ('status' in caller) return refuse(c, caller);
    return c.body(await options.metrics(), 200, { 'content-type': METRICS_CONTENT_TYPE });
  });
  app.notFound((c) =>
    c.text('There is nothing here: this process runs turns. The page is at a gateway.\n', 404),
  );
  return app;
}
