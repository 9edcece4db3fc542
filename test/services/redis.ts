import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from './find-program.ts';
import { findFreePort } from './free-port.ts';
import { startGuarded } from './guarded-process.ts';
import { PROGRAMS } from './programs.ts';
import type { ServiceStart } from './provided.ts';

/**
 * A private Redis on a free port that stores nothing on disk, or the server named by
 * `PARLEY_TEST_REDIS_URL`. `PARLEY_TEST_REDIS_SERVER` names the program to start.
 */
export async function startRedis(): Promise<ServiceStart> {
  const url = process.env.PARLEY_TEST_REDIS_URL;
  if (url) return { state: 'ready', value: url, stop: async () => undefined };
  const found = findRedis();
  if ('reason' in found) return { state: 'missing', ...found };
  try {
    return await startPrivateServer(found.path);
  } catch (error) {
    return { state: 'missing', reason: `${found.path} did not start: ${String(error)}` };
  }
}

/** The Redis server program, or the reason why there is none. */
export function findRedis() {
  return findProgram(PROGRAMS.redis);
}

async function startPrivateServer(program: string): Promise<ServiceStart> {
  const { url, ...plan } = await prepareServer(program, ['save ""', 'appendonly no']);
  const stop = await startGuarded({ ...plan, stopSignal: 'TERM' });
  return { state: 'ready', value: url, stop };
}

/** How to start a server; `folder` is dedicated to it. */
export interface RedisPlan {
  readonly url: string;
  readonly command: readonly string[];
  readonly folder: string;
  readonly isReady: () => Promise<boolean>;
}

/**
 * A private server that keeps its data, for a test that starts and stops it itself. Throws when
 * Redis is not available.
 */
export async function prepareRedis(): Promise<RedisPlan> {
  const found = findRedis();
  if ('reason' in found) throw new Error(found.reason);
  return prepareServer(found.path, ['save ""', 'appendonly yes', 'appendfsync everysec']);
}

async function prepareServer(program: string, keeping: readonly string[]): Promise<RedisPlan> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-redis-'));
  const port = await findFreePort();
  // Other users of this machine can reach the port too, and an open Redis would let them write
  // files as us.
  const password = randomBytes(16).toString('hex');
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `requirepass ${password}`,
    ...keeping,
    `dir ${JSON.stringify(folder)}`,
  ];
  const file = join(folder, 'redis.conf');
  writeFileSync(file, settings.join('\n'), { mode: 0o600 });
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    command: [program, file],
    folder,
    isReady: () => answersPing(port, password),
  };
}

async function answersPing(port: number, password: string): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    socket.write(`AUTH ${password}\r\nPING\r\n`);
    let answer = '';
    for await (const chunk of socket) {
      answer += String(chunk);
      if (answer.includes('+PONG')) return true;
      if (answer.includes('-')) return false;
    }
    return false;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
