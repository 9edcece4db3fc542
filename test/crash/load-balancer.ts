import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { readGatewayAddress } from './gateway-address.ts';

/** The address that a platform calls, in front of a changing set of gateways. */
export interface LoadBalancer {
  readonly address: string;
  close(): Promise<void>;
}

const TIMEOUT_MS = 20_000;
/** Hop-by-hop headers of one connection. */
const OF_CONNECTION = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);

/**
 * Starts a round-robin load balancer that tries another gateway only if the first cannot be
 * reached, so that a request stays unanswered if its gateway is killed while handling it.
 */
export async function startLoadBalancer(folders: readonly string[]): Promise<LoadBalancer> {
  let turn = 0;
  const server = createServer((request, response) => {
    turn += 1;
    const inTurn = folders.map((_, nth) => folders[(turn + nth) % folders.length] ?? '');
    passRequest(request, response, inTurn).catch(() => response.writeHead(502).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function passRequest(
  request: IncomingMessage,
  response: ServerResponse,
  folders: readonly string[],
): Promise<void> {
  const { method = 'GET', url = '/' } = request;
  const body = new Uint8Array(await buffer(request));
  const headers = Object.entries(request.headersDistinct)
    .filter(([name]) => !OF_CONNECTION.has(name))
    .map(([name, values = []]): [string, string] => [name, values.join(', ')]);
  const answer = await fetchFirstReachable(folders, (folder) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    return fetch(`${readGatewayAddress(folder)}${url}`, {
      ...{ method, headers, signal },
      ...(body.length > 0 && { body }),
    });
  });
  const text = await answer.text();
  response.writeHead(answer.status, {
    'content-type': answer.headers.get('content-type') ?? 'text/plain',
  });
  response.end(text);
}

async function fetchFirstReachable(
  folders: readonly string[],
  ask: (folder: string) => Promise<Response>,
): Promise<Response> {
  for (const folder of folders.slice(0, -1)) {
    try {
      return await ask(folder);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
    }
  }
  return ask(folders.at(-1) ?? '');
}

/** Whether no gateway listens at the address, or no gateway has written an address yet. */
function isUnreachable(error: unknown): boolean {
  const { code, cause } = Object(error) as { code?: unknown; cause?: { code?: unknown } };
  return code === 'ENOENT' || cause?.code === 'ECONNREFUSED';
}
