import { once } from 'node:events';
import { createServer, connect as dial, type Socket } from 'node:net';

/** A way to a server that can be made slow. */
export interface SlowProxy {
  /** The address of the server, by way of the proxy. */
  readonly url: string;
  /** From now on whatever is asked takes so many ms more. */
  setDelay(ms: number): void;
  close(): Promise<void>;
}

/** Starts a proxy on a free port before the server of an address such as `postgres://host:port/…`. */
export async function startSlowProxy(target: string): Promise<SlowProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let delay = 0;
  const server = createServer((client) => {
    const upstream = dial(Number(port), hostname);
    for (const side of [client, upstream]) {
      open.add(side);
      side.setNoDelay(true);
      side.on('error', () => undefined); // The other end hears of it by the closing below.
      side.on('close', () => {
        open.delete(side);
        client.destroy();
        upstream.destroy();
      });
    }
    upstream.pipe(client);
    // Timers of the same length fire in the order they were set, so nothing overtakes.
    client.on('data', (bytes) => {
      if (delay === 0) upstream.write(bytes);
      else setTimeout(() => upstream.write(bytes), delay);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  return {
    url: url.href,
    setDelay(ms) {
      delay = ms;
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
