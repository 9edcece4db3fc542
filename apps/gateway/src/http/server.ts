import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Logger, reasonOf } from '@parley/core';
import type { Secrets } from '@parley/core/telemetry';
import { GatewayError } from '../gateway-error.ts';
import type { HealthAppOptions } from './health.ts';
import type { HttpRoutes } from './scrubbed-app.ts';

// Importing `node:http` would evaluate all of its exports and load Node's `fetch`, which takes 16
// MB.
const { createServer } = process.getBuiltinModule('node:http');

/** The web server of a process. */
export interface HttpServer {
  /** The actual address, as `http://host:port`; for port 0, the system picks a free port. */
  readonly address: string;
  /** Rebuilds the routes for all later requests. */
  reload(): void;
  close(): Promise<void>;
}

/** The host and port to listen on. */
export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly log: Logger;
  /** Secrets to remove from all responses. */
  readonly secrets: Pick<Secrets, 'scrub' | 'stream'>;
}

type RequestListener = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * Starts listening. The routes and the web framework are loaded on the first request, so that a
 * process without page visitors starts faster and uses less memory. Rejects with GatewayError if
 * the address cannot be used.
 */
export async function startHttp(
  options: HttpOptions,
  routes: () => Promise<HttpRoutes>,
): Promise<HttpServer> {
  let listener: Promise<RequestListener> | undefined;
  const server = createServer((request, response) => {
    listener ??= loadListener(routes, options);
    listener
      .then((listen) => listen(request, response))
      .catch((error: unknown) => {
        // The query may contain a sign-in code, so it is not logged.
        const path = request.url?.split('?')[0];
        options.log.error({ reason: reasonOf(error), path }, 'web request failed');
        if (!response.headersSent) response.writeHead(500);
        response.end();
      });
  });
  await startListening(server, options.host, options.port);
  const { port } = getServerAddress(server);
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    address: `http://${host}:${port}`,
    reload() {
      listener = undefined;
    },
    close: () => closeServer(server),
  };
}

/** The address to listen on, and the services behind the routes. */
export interface HealthServerOptions extends HealthAppOptions {
  readonly port: number;
  readonly secrets: HttpOptions['secrets'];
}

/**
 * Starts the web server of a process without channels, which serves only health and metrics.
 * Rejects with GatewayError if the address cannot be used.
 */
export function startHealthServer(options: HealthServerOptions): Promise<HttpServer> {
  return startHttp(options, async () => (await import('./health.ts')).createHealthApp(options));
}

async function loadListener(
  routes: () => Promise<HttpRoutes>,
  { secrets, log }: HttpOptions,
): Promise<RequestListener> {
  const [app, { getRequestListener }, { createScrubbedApp: scrubbedApp }] = await Promise.all([
    routes(),
    import('@hono/node-server'),
    import('./scrubbed-app.ts'),
  ]);
  const scrubbed = scrubbedApp(app, secrets, log);
  return getRequestListener((request, { incoming }) => scrubbed.fetch(request, { incoming }));
}

function startListening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(toListenError(error, host, port)));
    server.listen(port, host, resolve);
  });
}

function toListenError(error: Error, host: string, port: number): GatewayError {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    return new GatewayError(
      'http-port-taken',
      `Port ${port} on ${host} is used by another program. Stop that program, or set http.port to another number (0 uses any free port).`,
      error,
    );
  }
  return new GatewayError(
    'http-listen',
    `Parley cannot serve its web page on ${host}:${port} (${error.message}). Set http.host and http.port to an address that this machine has.`,
    error,
  );
}

function getServerAddress(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new Error('The web server does not listen on a port.');
  }
  return address;
}

/** Streams of open pages never end on their own, so their connections are closed. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
