import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressRules, isPublicAddress } from '../addresses.ts';

/**
 * For tests: a server on this machine, and rules that allow its address but no other private
 * address.
 */
export interface WebScene {
  readonly port: number;
  /** `http://page.example:PORT/path`, whose host name resolves to the server. */
  url(path: string, host?: string): string;
  readonly asked: IncomingMessage[];
  /** Host names resolve to the server, or to the addresses in `names`. */
  rules(names?: Readonly<Record<string, readonly string[]>>): AddressRules;
  close(): Promise<void>;
}

/** The loopback address that tests may access; all other private addresses stay blocked. */
const OPEN = '127.0.0.1';

/** Starts the server. */
export async function openWebScene(answer: RequestListener): Promise<WebScene> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, OPEN, resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    asked,
    url: (path, host = 'page.example') => `http://${host}:${port}${path}`,
    rules: (names = {}) => ({
      resolve: async (host) => names[host] ?? [OPEN],
      isAllowed: (ip) => ip === OPEN || isPublicAddress(ip),
    }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
