import dns from 'node:dns/promises';
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { z } from 'zod';

/** Where the two servers behind the drill's internet really listen: ports on loopback. */
export const SmallInternet = z.object({
  /** Pages that strangers wrote, and what is sent there. */
  outside: z.int(),
  /** What nobody but this machine may ask. */
  inside: z.int(),
});
export type SmallInternet = z.infer<typeof SmallInternet>;

/** Public addresses that nobody is asked at in a test: they all lead to the outside server. */
const PAGES = '93.184.216.34';
const NAMES: Readonly<Record<string, string>> = {
  'pages.example.com': PAGES,
  'attacker.example.com': PAGES,
  // A public name of an address inside.
  'inside.example.com': '127.0.0.1',
};

/**
 * Gives this process an internet of two servers: names and connections are led there, and every check
 * on the way stays the real one. What a guard lets through to a private address arrives inside, where
 * the drill sees it.
 */
export function useSmallInternet({ outside, inside }: SmallInternet): void {
  Object.assign(dns, {
    lookup: async (host: string) => [{ address: await addressOf(host), family: 4 }],
  });
  syncBuiltinESMExports();
  const connect = (options: net.NetConnectOpts, done?: () => void) => {
    if (!('port' in options)) return net.createConnection(options, done);
    const { lookup, ...plain } = options;
    const host = options.host ?? '127.0.0.1';
    // Servers of the test itself, such as Telegram's: they have ports of their own.
    if (![80, 443].includes(Number(options.port))) return net.createConnection(options, done);
    const address = NAMES[host] ?? host;
    const port = address === PAGES ? outside : inside;
    return net.createConnection({ ...plain, host: '127.0.0.1', port }, done);
  };
  Object.assign(http.Agent.prototype, { createConnection: connect });
}

async function addressOf(host: string): Promise<string> {
  const address = NAMES[host];
  if (address === undefined) throw new Error(`there is no ${host} in this small internet`);
  return address;
}
