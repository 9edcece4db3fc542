import type { HealthAppOptions } from './http/health-app.ts';
import { type HttpServer, startHttp } from './http/server.ts';

/** Where to listen, and what is shown there. */
export interface HealthServerOptions extends HealthAppOptions {
  readonly port: number;
}

/** The web server of a process without channels: health and metrics alone. Rejects with GatewayError. */
export function startHealthServer(options: HealthServerOptions): Promise<HttpServer> {
  return startHttp(options, async () =>
    (await import('./http/health-app.ts')).createHealthApp(options),
  );
}
