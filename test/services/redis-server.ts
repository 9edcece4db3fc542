import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findFreePort } from './free-port.ts';
import { startGuarded } from './guarded-process.ts';
import { findRedis } from './redis.ts';

/** A private Redis for one test, which may kill and restart it on the same port. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Starts Redis without data. */
  start(): Promise<void>;
  /** Kills it like `kill -9`. */
  kill(): Promise<void>;
  /**
   * Suspends it: connections stay open, but nothing is answered until it is thawed, as on a network
   * that drops all packets.
   */
  freeze(): void;
  thaw(): void;
  /** Stops it permanently. */
  stop(): Promise<void>;
}

/** Extra settings of such a server, as lines of `redis.conf`. */
export interface RedisServerOptions {
  readonly settings?: readonly string[];
  readonly password?: string;
  /** Runs as a Sentinel, which answers questions about masters and does not store data. */
  readonly sentinel?: boolean;
}

/** Starts a Redis. Throws when the program is not installed. */
export async function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const found = findRedis();
  if ('reason' in found) throw new Error(found.reason);
  const { password, settings = [], sentinel = false } = options;
  const port = await findFreePort();
  const url = `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`;
  let running: { readonly pid: number; readonly end: () => Promise<void> } | null = null;
  const start = async (): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-redis-'));
    const file = join(folder, 'redis.conf');
    const lines = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...settings];
    if (!sentinel) lines.push('save ""', 'appendonly no');
    if (password !== undefined) lines.push(`requirepass ${password}`);
    writeFileSync(file, lines.join('\n'), { mode: 0o600 });
    let pid = 0;
    const end = await startGuarded({
      command: [found.path, file, ...(sentinel ? ['--sentinel'] : [])],
      folder,
      stopSignal: 'TERM',
      isReady: async () => {
        pid = await readPid(url);
        return pid > 0;
      },
    });
    running = { pid, end };
  };
  const signal = (name: NodeJS.Signals): void => {
    if (running !== null) process.kill(running.pid, name);
  };
  const end = async (name: NodeJS.Signals): Promise<void> => {
    signal(name);
    const ended = running?.end();
    running = null;
    await ended;
  };
  await start();
  return {
    url,
    port,
    start,
    kill: () => end('SIGKILL'),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    stop: () => end('SIGKILL'),
  };
}

/** The id of its process; 0 while it does not answer. */
async function readPid(url: string): Promise<number> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1] ?? 0);
  } catch {
    return 0;
  } finally {
    redis.disconnect();
  }
}
