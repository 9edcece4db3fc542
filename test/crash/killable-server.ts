import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { preparePostgres } from '../services/postgres.ts';
import { prepareRedis } from '../services/redis.ts';

/** A server that Parley needs, which can be killed and returns with its data. */
export interface KillableServer {
  readonly name: 'postgres' | 'redis';
  readonly url: string;
  readonly kills: number;
  /**
   * Sends SIGKILL to all processes of the server; resolves when it is ready again, after `awayMs`
   * at the earliest.
   */
  killFor(awayMs: number): Promise<void>;
  close(): Promise<void>;
}

/** How to run a server; `isReady` reports whether it accepts queries. */
interface ServerPlan {
  readonly url: string;
  readonly command: readonly string[];
  /** A dedicated folder, removed at the end. */
  readonly folder: string;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  readonly isReady: () => Promise<boolean>;
}

/**
 * The server replaces this shell. A background process reads a pipe whose other end only the
 * harness holds, and kills the whole group when that end is closed.
 */
const GUARD = `
exec 3<&0
( cat <&3 >/dev/null; kill -KILL 0 ) &
exec "$@" </dev/null >>log 2>&1 3<&-
`;
const READY_WITHIN_MS = 30_000;
const POLL_INTERVAL_MS = 20;

/** Starts a dedicated PostgreSQL instance for the harness. */
export async function startKillablePostgres(): Promise<KillableServer> {
  const plan = await preparePostgres();
  return startServer('postgres', { ...plan, isReady: () => answersQuery(plan.url) });
}

/**
 * Starts a dedicated Redis instance for the harness, whose append-only file is synced every second.
 */
export async function startKillableRedis(): Promise<KillableServer> {
  return startServer('redis', await prepareRedis());
}

async function startServer(
  name: KillableServer['name'],
  plan: ServerPlan,
): Promise<KillableServer> {
  let child = await launchServer(plan);
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
      child = await launchServer(plan);
    },
    async close() {
      killAll(child);
      rmSync(plan.folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/**
 * Retries until the server is ready, since remains of a killed instance may briefly prevent a
 * start.
 */
async function launchServer(plan: ServerPlan): Promise<ChildProcess> {
  const late = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const child = spawn('/bin/sh', ['-c', GUARD, 'guard', ...plan.command], {
      cwd: plan.folder,
      // A separate process group, so that it can be killed as a whole.
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

/** PostgreSQL's processes are in separate groups, so each is killed by its process id. */
function killAll({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  for (const one of [-pid, ...listChildren(pid)]) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // The process has already exited.
    }
  }
}

function listChildren(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.trim().split(/\s+/).filter(Boolean).map(Number);
  } catch {
    // The process has exited, or this is not Linux: PostgreSQL's processes exit by themselves
    // without their parent.
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
