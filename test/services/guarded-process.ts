import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * The guard briefly outlives the test run: it reads a pipe whose other end only the test process
 * holds, so it notices every kind of exit, `kill -9` included, stops the service and removes the
 * folder. `$1` is the folder, `$2` the signal, the rest the command.
 */
const GUARD = `
folder=$1; signal=$2; shift 2
trap : PIPE # nobody reads our complaints any more once the test process is gone
exec 3<&0
"$@" </dev/null >"$folder/log" 2>&1 3<&- &
service=$!
( cat <&3 >/dev/null; kill -"$signal" "$service" ) 2>/dev/null &
watcher=$!
wait "$service"; code=$?
kill "$watcher" 2>/dev/null
[ "$code" = 0 ] || tail -n 3 "$folder/log" >&2
rm -rf -- "$folder"
`;

const STARTUP_LIMIT_MS = 20_000;
const STOP_LIMIT_MS = 5_000;
const POLL_MS = 10;

/**
 * What to run: a command that stays in the foreground, and its own folder, which is removed at the
 * end.
 */
export type GuardedCommand = {
  readonly command: readonly string[];
  readonly folder: string;
  readonly stopSignal: 'TERM' | 'QUIT';
  /** The user to run as; only root may set it. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Whether the service accepts requests; polled until it does. */
  readonly isReady: () => Promise<boolean> | boolean;
};

/**
 * Starts a service that cannot outlive this process, and waits until it is ready. Throws with the
 * end of its log when it exits early or needs more than 20 s.
 */
export async function startGuarded(wanted: GuardedCommand): Promise<() => Promise<void>> {
  const guard = spawnGuard(wanted);
  const stop = () => stopGuard(guard);
  const giveUpAt = Date.now() + STARTUP_LIMIT_MS;
  while (!(await wanted.isReady())) {
    if (guard.hasEnded()) throw new Error(`stopped at once: ${guard.complaint().trim()}`);
    if (Date.now() > giveUpAt) {
      const log = readLastLines(join(wanted.folder, 'log'));
      await stop();
      throw new Error(`not ready after ${STARTUP_LIMIT_MS / 1000} s: ${log}`);
    }
    await pause(POLL_MS);
  }
  return stop;
}

type ProcessGuard = {
  readonly process: ChildProcess;
  readonly ended: Promise<void>;
  readonly hasEnded: () => boolean;
  readonly complaint: () => string;
};

function spawnGuard({ folder, stopSignal, command, user }: GuardedCommand): ProcessGuard {
  const args = ['-c', GUARD, 'guard', folder, stopSignal, ...command];
  const child = spawn('/bin/sh', args, {
    cwd: folder,
    // A separate session, so that Ctrl-C reaches the tests first and the services last.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
    ...(user ?? {}),
  });
  let complaint = '';
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', (error) => {
      complaint += error.message;
      resolve();
    });
  }).then(() => {
    hasEnded = true;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  // The guard may have exited before its pipe is closed, which is fine.
  child.stdin.on('error', () => undefined);
  child.unref();
  return { process: child, ended, hasEnded: () => hasEnded, complaint: () => complaint };
}

async function stopGuard(guard: ProcessGuard): Promise<void> {
  if (guard.hasEnded()) return;
  guard.process.ref();
  guard.process.stdin?.end();
  await Promise.race([guard.ended, pause(STOP_LIMIT_MS, undefined, { ref: false })]);
}

function readLastLines(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim().split('\n').slice(-3).join(' ');
  } catch {
    return 'it wrote no log';
  }
}
