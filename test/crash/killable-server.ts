import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { preparePostgres } from '../services/postgres.ts';
import { prepareRedis } from '../services/redis.ts';

/** A server that Parley needs, which can be killed and comes back with its data. */
export interface KillableServer {
  readonly name: 'postgres' | 'redis';
  readonly url: string;
  readonly kills: number;
  /** SIGKILL to all of it; resolves when it takes work again, `awayMs` later at the earliest. */
  killFor(awayMs: number): Promise<void>;
  close(): Promise<void>;
}

/** How a server is run; `isReady` answers whether it takes work now. */
interface Plan {
  readonly url: string;
  readonly command: readonly string[];
  /** Its own; it is removed at the end. */
  readonly folder: string;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  readonly isReady: () => Promise<boolean>;
}

/**
 * The server takes the place of this shell; what stays behind reads a pipe whose other end only the
 * harness holds, and ends the whole group when that is gone.
 */
const GUARD = `
exec 3<&0
( cat <&3 >/dev/null; kill -KILL 0 ) &
exec "$@" </dev/null >>log 2>&1 3<&-
`;
const READY_WITHIN_MS = 30_000;
const POLL_INTERVAL_MS = 20;

/** Starts a PostgreSQL of the harness's own. */
export async function startKillablePostgres(): Promise<KillableServer> {
  const plan = await preparePostgres();
  return start('postgres', { ...plan, isReady: () => answersQuery(plan.url) });
}

/** Starts a Redis of the harness's own, whose log of changes is written through every second. */
export async function startKillableRedis(): Promise<KillableServer> {
  return start('redis', await prepareRedis());
}

async function start(name: KillableServer['name'], plan: Plan): Promise<KillableServer> {
  let child = await launch(plan);
  let kills = 0;
  return {
    name,
    url: plan.url,
    get kills() {
      return kills;
    },
    async killFor(awayMs) {
      killAll(child);
      kills += 1;
      await sleep(awayMs);
      child = await launch(plan);
    },
    async close() {
      killAll(child);
      rmSync(plan.folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Starts it until it is ready: what a killed one left behind may stand in the way for a moment. */
async function launch(plan: Plan): Promise<ChildProcess> {
  const late = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const child = spawn('/bin/sh', ['-c', GUARD, 'guard', ...plan.command], {
      cwd: plan.folder,
      // A group of its own, to be killed whole.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      ...plan.user,
    });
    child.stdin.on('error', () => undefined);
    child.unref();
    while (child.exitCode === null && child.signalCode === null) {
      if (await plan.isReady()) return child;
      if (Date.now() > late) {
        killAll(child);
        throw new Error(`Not ready in time: ${plan.command[0]}; see ${join(plan.folder, 'log')}`);
      }
      await sleep(POLL_INTERVAL_MS);
    }
    await sleep(POLL_INTERVAL_MS);
    if (Date.now() > late) throw new Error(`It does not start: ${plan.command.join(' ')}`);
  }
}

/** PostgreSQL's processes are in groups of their own, so each is killed by its number. */
function killAll({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  for (const one of [-pid, ...childrenOf(pid)]) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // It has ended already.
    }
  }
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.trim().split(/\s+/).filter(Boolean).map(Number);
  } catch {
    // It has ended, or this is no Linux: PostgreSQL's processes end by themselves without their first.
    return [];
  }
}

async function answersQuery(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
