import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './free-port.ts';
import { startGuarded } from './guarded-process.ts';
import { findRedis } from './redis.ts';

/** A Redis of one test alone, which may be killed and started again on the same port. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Starts it, with nothing of what it knew before. */
  start(): Promise<void>;
  /** Ends it as `kill -9` does. */
  kill(): Promise<void>;
  /** It keeps its connections and answers nothing until it is thawed: a network that swallows all. */
  freeze(): void;
  thaw(): void;
  /** Ends it for good. */
  stop(): Promise<void>;
}

/** What such a server is told besides its port: lines of `redis.conf`. */
export interface RedisServerOptions {
  readonly settings?: readonly string[];
  readonly password?: string;
  /** Answers questions about masters instead of keeping data. */
  readonly sentinel?: boolean;
}

/** Starts a Redis. Throws where the machine has no program for it. */
export async function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const found = findRedis();
  if ('reason' in found) throw new Error(found.reason);
  const { password, settings = [], sentinel = false } = options;
  const port = await freePort();
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
        pid = await pidOf(url);
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

/** The number of its process; 0 while it does not answer. */
async function pidOf(url: string): Promise<number> {
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
