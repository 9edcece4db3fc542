import { type ChildProcess, spawn } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { finished, Writable } from 'node:stream';
import { GROUPS, GROUPS_FD, STATUS_FD, USERS, USERS_FD } from './bwrap-arguments.ts';
import { type Ending, signalOf } from './command-result.ts';
import { type EndsKeeper, keepEnds } from './keep-ends.ts';
import { forbidden, missing } from './sandbox-error.ts';
import type { SandboxLimits } from './sandbox-limits.ts';
import { readReport } from './sandbox-report.ts';
import { treeUsage } from './tree-usage.ts';

/** One start of bubblewrap. */
export interface BwrapRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly workspace: string;
  readonly limits: SandboxLimits;
  readonly signal: AbortSignal;
}

/** What came of it. */
export interface BwrapOutcome {
  readonly output: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly ended: Ending | null;
}

/** How often a sandbox is counted, in ms. */
const WATCH_MS = 100;
/** bubblewrap's own words, in characters. */
const OWN_WORDS = 2_000;

/**
 * Runs bubblewrap to its end. Killing it kills all that is inside: it is their parent and the first
 * process of their namespace. Throws SandboxError when the command was never begun.
 */
export async function runBwrap(run: BwrapRun): Promise<BwrapOutcome> {
  const { program, args, workspace, limits, signal } = run;
  if (signal.aborted) return { output: '', exitCode: null, signal: null, ended: 'stopped' };
  // An environment of its own, and empty: what is in it can be read inside, in /proc/1/environ.
  const child = spawn(program, args, { env: {}, detached: true, stdio: ['ignore', ...PIPES] });
  const output = keepEnds(limits.outputCharacters);
  const words = keepEnds(OWN_WORDS);
  const status = keepEnds(OWN_WORDS);
  listen(child, 1, output.add);
  listen(child, 2, words.add);
  listen(child, STATUS_FD, status.add);
  give(child, USERS_FD, USERS(workspace));
  give(child, GROUPS_FD, GROUPS);

  let ended: Ending | null = null;
  const end = (why: Ending): void => {
    ended ??= why;
    killGroup(child);
  };
  const stop = (): void => end('stopped');
  const timer = setTimeout(() => end('time'), limits.timeoutMs);
  const unwatch = watchLimits(run, status, end);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let killedBy: string | null = null;
  try {
    killedBy = await closed(child, program);
  } finally {
    clearTimeout(timer);
    unwatch();
    signal.removeEventListener('abort', stop);
  }
  const { exitCode } = readReport(status.text());
  // Killed from outside, such as by a machine out of memory, is no sign that it could not begin.
  if (exitCode === null && ended === null && killedBy === null) throw forbidden(words.text());
  return {
    output: output.text(),
    exitCode: ended === null ? exitCode : null,
    signal: exitCode === null ? killedBy : signalOf(exitCode),
    ended,
  };
}

/** Outputs and status out, users and groups in. */
const PIPES = ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const;

/** Resolves with the signal that ended bubblewrap itself, if one did. */
function closed(child: ChildProcess, program: string): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  child.once('error', (error) => reject(missing(program, error)));
  child.once('close', (_code, signal) => resolve(signal));
  return promise;
}

function listen(child: ChildProcess, fd: number, add: (chunk: Uint8Array) => void): void {
  const pipe: Readable | Writable | null | undefined = child.stdio[fd];
  if (pipe === null || pipe === undefined || !('read' in pipe)) return;
  pipe.on('data', add);
  // A pipe that breaks is the end of the process, which is waited for anyway.
  finished(pipe, () => {});
}

function give(child: ChildProcess, fd: number, text: string): void {
  const pipe = child.stdio[fd];
  if (!(pipe instanceof Writable)) return;
  finished(pipe, () => {}); // As above.
  pipe.end(text);
}

/** Checks the limits of a sandbox every 100 ms until the returned function is called. */
function watchLimits(
  { workspace, limits }: BwrapRun,
  status: EndsKeeper,
  end: (why: Ending) => void,
): () => void {
  const lostRoom = watchRoom(workspace, limits.diskBytes);
  let watching = true;
  const look = async (): Promise<void> => {
    const { pidNamespace } = readReport(status.text());
    const why = pidNamespace === null ? null : tooMuch(pidNamespace, limits);
    if (why !== null) end(why);
    else if ((await lostRoom()) && watching) end('disk');
  };
  void look();
  const watch = setInterval(() => void look(), WATCH_MS);
  return () => {
    watching = false;
    clearInterval(watch);
  };
}

function tooMuch(pidNamespace: number, limits: SandboxLimits): Ending | null {
  const { processes, memoryBytes, writtenBytes } = treeUsage(pidNamespace, limits.processes);
  if (processes > limits.processes) return 'processes';
  if (memoryBytes > limits.memoryBytes) return 'memory';
  return writtenBytes > limits.diskBytes ? 'disk' : null;
}

/**
 * Whether the disk of a folder lost more room than that since the first look. Sees what counting misses:
 * room that is reserved and not written, and what a process wrote that no other one waited for.
 */
function watchRoom(folder: string, bytes: number): () => Promise<boolean> {
  let most = 0;
  let looking = false;
  return async () => {
    if (looking) return false;
    looking = true;
    const found = await statfs(folder).catch(() => null);
    looking = false;
    if (found === null) return false;
    const free = found.bfree * found.bsize;
    most = Math.max(most, free);
    return most - free > bytes;
  };
}

/**
 * The group, because bubblewrap may be dying between its two processes, and the second of them would
 * wait for ever. Later, what is inside has a session of its own and dies with its parent.
 */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
