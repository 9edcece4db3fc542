import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { LoggedStatement } from './statement-log.ts';

/** A proxied PostgreSQL address that records all statements. */
export interface WatchedPostgres {
  readonly url: string;
  readonly asked: readonly LoggedStatement[];
  /** How often a client has waited for the server. */
  roundTrips(): number;
  close(): Promise<void>;
}

/** Starts a proxy that parses the wire protocol, so that no client library has to cooperate. */
export async function watchPostgres(url: string): Promise<WatchedPostgres> {
  const target = new URL(url);
  const asked: LoggedStatement[] = [];
  const open = new Set<Socket>();
  let trips = 0;
  const server = createServer((client) => {
    const connection = `connection ${open.size / 2 + 1}`;
    const upstream = connect(Number(target.port), target.hostname);
    const read = createWireReader((text) => asked.push({ connection, text }));
    let isAnswered = true;
    client.on('data', (bytes: Buffer) => {
      if (isAnswered) trips += 1;
      isAnswered = false;
      read(bytes);
      upstream.write(bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      isAnswered = true;
      client.write(bytes);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      one.setNoDelay(true);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    asked,
    roundTrips: () => trips,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Parses what a client sends: the text of each statement, in the order of execution. */
function createWireReader(onStatement: (text: string) => void): (bytes: Buffer) => void {
  const prepared = new Map<string, string>();
  const portals = new Map<string, string>();
  let rest = Buffer.alloc(0);
  let isStarted = false;
  const message = (type: string, body: Buffer): void => {
    const [first = '', second = ''] = body.toString('utf8').split('\0', 2);
    if (type === 'Q') onStatement(first);
    else if (type === 'P') prepared.set(first, second);
    else if (type === 'B') portals.set(first, prepared.get(second) ?? '?');
    else if (type === 'E') onStatement(portals.get(first) ?? '?');
  };
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      // The first message of a connection has no type.
      const head = isStarted ? 1 : 0;
      if (rest.length < head + 4) return;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      if (isStarted) message(rest.toString('latin1', 0, 1), rest.subarray(5, length));
      isStarted = true;
      rest = rest.subarray(length);
    }
  };
}

/**
 * Commands from one installation on a shared Redis; commands run by scripts are prefixed with
 * `lua`.
 */
export interface WatchedRedis {
  readonly commands: readonly string[];
  close(): void;
}

/**
 * Records commands whose keys or channels contain the prefix, and the commands of their scripts.
 * Parses the lines itself, because the client library mistakes a line that arrives together with
 * the response to MONITOR for another command's response.
 */
export async function watchRedis(url: string, prefix: string): Promise<WatchedRedis> {
  const { hostname, port, password } = new URL(url);
  const socket = connect(Number(port || 6_379), hostname);
  const commands: string[] = [];
  let isOurs = false;
  const onLine = (line: string): void => {
    const isInScript = /^\+[\d.]+ \[\d+ lua\]/.test(line);
    const words = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word);
    // A script and its commands are consecutive, because Redis executes one at a time.
    if (!isInScript) isOurs = words.some((word) => word.includes(prefix));
    if (isOurs) commands.push(`${isInScript ? 'lua ' : ''}${words.join(' ')}`);
  };
  const started = Promise.withResolvers<void>();
  const asks = [...(password === '' ? [] : [`AUTH ${password}`]), 'MONITOR'];
  let answers = 0;
  createInterface({ input: socket }).on('line', (line) => {
    if (line.startsWith('-')) started.reject(new Error(`Redis: ${line}`));
    if (line !== '+OK') return onLine(line);
    answers += 1;
    if (answers === asks.length) started.resolve();
  });
  socket.on('error', started.reject);
  socket.write(asks.map((ask) => `${ask}\r\n`).join(''));
  await started.promise;
  return { commands, close: () => socket.destroy() };
}
