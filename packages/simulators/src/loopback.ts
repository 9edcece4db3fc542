import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpResponse {
  readonly status: number;
  readonly body: string;
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function createJsonResponse(status: number, body: unknown): HttpResponse {
  return { status, type: 'application/json', body: JSON.stringify(body) };
}

/** The response to a bug in the double itself; the real platforms never send this response. */
export function createFailureResponse(error: unknown): HttpResponse {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { status: 500, type: 'text/plain', body: `The double itself failed: ${reason}` };
}

/** Writes a response, unless the client has disconnected. */
export function writeResponse(
  response: ServerResponse,
  { status, type, body, headers }: HttpResponse,
): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    ...headers,
    'content-type': type,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Waits for `ms`, or until the client disconnects. */
export function sleep(ms: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Listens on loopback and resolves with the port; port 0 selects a free one. */
export async function listenOnLoopback(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Stops a server and closes all its connections. */
export function stopServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
