import { METRICS_CONTENT_TYPE } from '@parley/telemetry';
import { Hono } from 'hono';
import { guard } from './guard.ts';
import { guardFacts } from './guard-facts.ts';
import { addHealth, type HealthOptions } from './health-routes.ts';
import { refuse } from './sign-in.ts';

/** What a process without channels shows of itself. */
export interface HealthAppOptions extends Omit<HealthOptions, 'status'> {
  /** The address listened on; decides which names are our own. */
  readonly host: string;
  readonly token: string;
  readonly metrics: () => Promise<string>;
}

/** `/healthz`, `/readyz` for everybody and `/metrics` for whoever has the token (D10). */
export function createHealthApp(options: HealthAppOptions): Hono {
  const app = new Hono();
  addHealth(app, { ...options, status: () => [] });
  app.get('/metrics', async (c) => {
    const decision = guard(guardFacts(c), options.token, options.host);
    if (decision.kind === 'reject') return refuse(c, decision.status, decision.message);
    return c.body(await options.metrics(), 200, { 'content-type': METRICS_CONTENT_TYPE });
  });
  app.notFound((c) =>
    c.text('There is nothing here: this process runs turns. The page is at a gateway.\n', 404),
  );
  return app;
}
