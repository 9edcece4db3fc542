import { METRICS_CONTENT_TYPE } from '@parley/telemetry';
import { Hono } from 'hono';
import { type AccessOptions, type AppEnv, createAccess, refuse } from './access.ts';
import { type AskHealth, addHealth, type HealthOptions, openHealth } from './health-routes.ts';

/** What a process without channels shows of itself. */
export interface HealthAppOptions extends Omit<HealthOptions, 'status'>, AccessOptions {
  readonly metrics: (health: AskHealth) => Promise<string>;
}

/** `/healthz`, `/readyz` for everybody and `/metrics` for whoever has the token (D10). */
export function createHealthApp(options: HealthAppOptions): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  const access = createAccess(options);
  const health = openHealth({ ...options, status: () => [] });
  addHealth(app, health);
  app.get('/metrics', async (c) => {
    const caller = access.checkPlace(c) ?? (await access.admit(c));
    if ('status' in caller) return refuse(c, caller);
    return c.body(await options.metrics(health), 200, { 'content-type': METRICS_CONTENT_TYPE });
  });
  app.notFound((c) =>
    c.text('There is nothing here: this process runs turns. The page is at a gateway.\n', 404),
  );
  return app;
}
