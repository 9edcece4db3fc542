import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { killByEnvironment, signalGroup } from '../processes.ts';
import type { McpPeer } from './peer.ts';

/** A server that runs as a child process of Parley, together with the processes it started. */
export interface ServerProcess {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** Resolves with a description of how the server ended. */
  readonly ended: Promise<string>;
  /** Asks the server to exit, then kills it; resolves when all its processes have ended. */
  end(): Promise<void>;
  /** Kills the server and all its processes. */
  kill(): void;
}

/** The environment variable that identifies the processes of a server. */
const SERVER_ID = 'PARLEY_MCP_SERVER';

/** How long to wait after closing its input, and again after SIGTERM, in ms. */
const GRACE_MS = 500;

/** How long to wait for the last output of an ended process, in ms. */
const LAST_WORDS_MS = 200;

/**
 * Kills the process group when its standard input closes without a line, which means that Parley
 * was killed.
 */
const WATCH = 'read -r line || kill -s KILL -- "-$1"';

const HAS_GROUPS = process.platform !== 'win32';

/** Starts a server; rejects when the program does not exist. */
export async function startServerProcess(
  { command, args, env, cwd }: Extract<McpPeer, { kind: 'stdio' }>,
  own: Readonly<Record<string, string | undefined>>,
): Promise<ServerProcess> {
  // The server gets its own process group, because Parley handles Ctrl-C and must also end the
  // server's child processes.
  const id = randomUUID();
  const child = spawn(command, [...args], {
    env: { ...createEnvironment(own, env), [SERVER_ID]: id },
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: HAS_GROUPS,
    windowsHide: true,
  });
  const ended = waitForExit(child);
  await once(child, 'spawn');
  const { pid = 0 } = child;
  const watch = HAS_GROUPS ? startGroupGuard(pid) : null;
  const kill = (): void => {
    signalGroup(child, 'SIGKILL');
    // Some child processes, such as browsers, run in their own process group.
    killByEnvironment(SERVER_ID, id);
  };
  const gone = ended.then((how) => {
    // Otherwise processes that the server left behind would outlive it.
    kill();
    watch?.();
    return how;
  });
  return {
    input: child.stdin,
    output: child.stdout,
    errors: child.stderr,
    ended: gone,
    kill,
    async end() {
      child.stdin.end();
      if (await waitForGracefulExit(gone)) return;
      signalGroup(child, 'SIGTERM');
      if (await waitForGracefulExit(gone)) return;
      kill();
      await gone;
    },
  };
}

async function waitForExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', async (code, signal) => {
      // The last output may still be buffered, but a child process may keep the streams open.
      await Promise.race([once(child, 'close'), pause(LAST_WORDS_MS)]);
      resolve(signal === null ? `it exited with code ${code}` : `it was killed by ${signal}`);
    });
  });
}

async function waitForGracefulExit(gone: Promise<string>): Promise<boolean> {
  const waiting = new AbortController();
  const late = pause(GRACE_MS, false, { signal: waiting.signal }).catch(() => false);
  const isGone = await Promise.race([gone.then(() => true), late]);
  waiting.abort();
  return isGone;
}

/**
 * Ends the process group even if Parley itself is killed. Returns a function that cancels this
 * safeguard.
 */
function startGroupGuard(pid: number): () => void {
  const watch = spawn('/bin/sh', ['-c', WATCH, 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
    detached: true,
  });
  // Without the shell, the server still notices that its input is closed.
  watch.on('error', () => {});
  watch.stdin.on('error', () => {});
  watch.unref();
  if ('unref' in watch.stdin && typeof watch.stdin.unref === 'function') watch.stdin.unref();
  return () => watch.stdin.end('\n');
}

/** Variables that programs need to run, none of which is a secret of Parley. */
const PASSED_ON =
  process.platform === 'win32'
    ? ['PATH', 'HOME', 'LANG', 'SYSTEMROOT', 'TEMP', 'USERPROFILE', 'APPDATA']
    : ['PATH', 'HOME', 'LANG'];

/**
 * The environment of a server: the passed-on variables of Parley and those from the server's
 * settings.
 */
function createEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  named: Readonly<Record<string, string>>,
): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = own[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passed), ...named };
}
