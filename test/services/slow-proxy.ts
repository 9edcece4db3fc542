import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A way to a server of TCP that can be made slow, and cut. */
export interface SlowProxy {
  /** The address that was given, through the proxy. */
  readonly url: string;
  /** From now on each piece that the client sends arrives so much later, in ms; order is kept. */
  delay(ms: number): void;
  /** Breaks all connections and refuses new ones. */
  cut(): Promise<void>;
  /** Takes connections again, on the same port. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

/** Stands between a client and the server of `url`, such as `postgres://…`; at first without any delay. */
export async function startSlowProxy(url: string): Promise<SlowProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let server: Server | undefined;
  let port = 0;
  const join = (client: Socket): void => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // Whatever ends one side ends the other; that it was an error is what tests want.
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    let last = Promise.resolve();
    client.on('data', (piece) => {
      const due = sleep(delayMs);
      last = last.then(async () => {
        await due;
        upstream.write(piece);
      });
    });
    upstream.on('data', (piece) => client.write(piece));
  };
  const listen = async (): Promise<void> => {
    server = createServer(join);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address !== null && typeof address !== 'string') port = address.port;
  };
  const cut = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    if (closing === undefined) return;
    closing.close();
    await once(closing, 'close');
  };
  await listen();
  return {
    url: Object.assign(new URL(url), { hostname: '127.0.0.1', port: `${port}` }).href,
    delay(ms) {
      delayMs = ms;
    },
    cut,
    mend: listen,
    close: cut,
  };
}
