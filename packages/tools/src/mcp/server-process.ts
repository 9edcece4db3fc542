import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { killByEnvironment, signalGroup } from '../processes.ts';
import type { McpPeer } from './peer.ts';

/** A server that runs as a child of Parley, with all that it has started itself. */
export interface ServerProcess {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** Resolves with how it ended, as text. */
  readonly ended: Promise<string>;
  /** Asks it to end, then ends it; resolves when it and all that it has started are gone. */
  end(): Promise<void>;
  /** Ends it and all that it has started without asking. */
  kill(): void;
}

/** A variable by which the processes of a server are recognized. */
const SERVER_ID = 'PARLEY_MCP_SERVER';

/** After its input was closed, and after SIGTERM. In ms. */
const GRACE_MS = 500;

/** For the last output of one that has ended. In ms. */
const LAST_WORDS_MS = 200;

/** Says whether the reader of its input is gone by itself: then Parley was killed, and so are they. */
const WATCH = 'read -r line || kill -s KILL -- "-$1"';

const HAS_GROUPS = process.platform !== 'win32';

/** Starts a server; rejects when there is no such program. */
export async function startServerProcess(
  { command, args, env, cwd }: Extract<McpPeer, { kind: 'stdio' }>,
  own: Readonly<Record<string, string | undefined>>,
): Promise<ServerProcess> {
  // In a group of its own: Ctrl-C is Parley's to handle, and helpers of the server end with it.
  const id = randomUUID();
  const child = spawn(command, [...args], {
    env: { ...minimalEnvironment(own, env), [SERVER_ID]: id },
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: HAS_GROUPS,
    windowsHide: true,
  });
  const ended = waitForExit(child);
  await once(child, 'spawn');
  const { pid = 0 } = child;
  const watch = HAS_GROUPS ? watchOver(pid) : null;
  const kill = (): void => {
    signalGroup(child, 'SIGKILL');
    // A browser, for one, is started in a group of its own.
    killByEnvironment(SERVER_ID, id);
  };
  const gone = ended.then((how) => {
    // What the server leaves behind would outlive it.
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
      if (await endsSoon(gone)) return;
      signalGroup(child, 'SIGTERM');
      if (await endsSoon(gone)) return;
      kill();
      await gone;
    },
  };
}

async function waitForExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', async (code, signal) => {
      // What it said last is still on its way; but a helper of its own may hold the streams open.
      await Promise.race([once(child, 'close'), pause(LAST_WORDS_MS)]);
      resolve(signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`);
    });
  });
}

async function endsSoon(gone: Promise<string>): Promise<boolean> {
  const waiting = new AbortController();
  const late = pause(GRACE_MS, false, { signal: waiting.signal }).catch(() => false);
  const isGone = await Promise.race([gone.then(() => true), late]);
  waiting.abort();
  return isGone;
}

/** Ends the group even when Parley is killed and can end nothing itself. Returns a function that cancels this. */
function watchOver(pid: number): () => void {
  const watch = spawn('/bin/sh', ['-c', WATCH, 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
    detached: true,
  });
  // Without the watching shell the server still sees its input end.
  watch.on('error', () => {});
  watch.stdin.on('error', () => {});
  watch.unref();
  if ('unref' in watch.stdin && typeof watch.stdin.unref === 'function') watch.stdin.unref();
  return () => watch.stdin.end('\n');
}

/** The variables that programs need to run at all; no secret of Parley is among it. */
const PASSED_ON =
  process.platform === 'win32'
    ? ['PATH', 'HOME', 'LANG', 'SYSTEMROOT', 'TEMP', 'USERPROFILE', 'APPDATA']
    : ['PATH', 'HOME', 'LANG'];

/** The environment of a server: PATH, HOME and LANG of Parley, and what its settings name. */
function minimalEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  named: Readonly<Record<string, string>>,
): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = own[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passed), ...named };
}
