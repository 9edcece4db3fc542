import dns from 'node:dns/promises';
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { z } from 'zod';

/** The loopback ports on which the two servers of the drill's internet really listen. */
export const SmallInternet = z.object({
  /** The server of strangers' pages, which also records what is sent there. */
  outside: z.int(),
  /** A server that only this machine may reach. */
  inside: z.int(),
});
export type SmallInternet = z.infer<typeof SmallInternet>;

/** Public addresses that no test really contacts: they all lead to the outside server. */
const PAGES = '93.184.216.34';
const NAMES: Readonly<Record<string, string>> = {
  'pages.example.com': PAGES,
  'attacker.example.com': PAGES,
  // A public name for an inside address.
  'inside.example.com': '127.0.0.1',
};

/**
 * Gives this process an internet of two servers: names and connections are redirected there, and
 * every check in between is the real one. A request to a private address that a guard lets through
 * arrives inside, where the drill sees it.
 */
export function useSmallInternet({ outside, inside }: SmallInternet): void {
  Object.assign(dns, {
    lookup: async (host: string) => [{ address: await resolveAddress(host), family: 4 }],
  });
  syncBuiltinESMExports();
  const connect = (options: net.NetConnectOpts, done?: () => void) => {
    if (!('port' in options)) return net.createConnection(options, done);
    const { lookup, ...plain } = options;
    const host = options.host ?? '127.0.0.1';
    // Servers of the test itself, such as Telegram's, listen on other ports.
    if (![80, 443].includes(Number(options.port))) return net.createConnection(options, done);
    const address = NAMES[host] ?? host;
    const port = address === PAGES ? outside : inside;
    return net.createConnection({ ...plain, host: '127.0.0.1', port }, done);
  };
  Object.assign(http.Agent.prototype, { createConnection: connect });
}

async function resolveAddress(host: string): Promise<string> {
  const address = NAMES[host];
  if (address === undefined) throw new Error(`there is no ${host} in this small internet`);
  return address;
}
