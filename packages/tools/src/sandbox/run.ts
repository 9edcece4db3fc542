import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { constants } from 'node:os';
import { finished, type Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { formatCount } from '@parley/core';
import { z } from 'zod';
import { readProcNumber, signalGroup } from '../processes.ts';
import {
  createForbiddenError,
  createMissingError,
  GROUPS,
  GROUPS_FD,
  type SandboxLimits,
  STATUS_FD,
  USERS,
  USERS_FD,
} from './arguments.ts';

interface BwrapRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly workspace: string;
  readonly limits: SandboxLimits;
  readonly signal: AbortSignal;
}

interface BwrapOutcome {
  readonly output: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly ended: TerminationReason | null;
}

/** The interval at which the usage of a sandbox is measured, in ms. */
const WATCH_MS = 100;
/** The longest error message of bubblewrap itself, in characters. */
const MAX_MESSAGE = 2_000;

/**
 * Runs bubblewrap until it exits. Killing bubblewrap kills all processes in the sandbox, because it
 * is the parent of the first process in the namespace. Throws SandboxError if the command was never
 * started.
 */
export async function runBwrap(run: BwrapRun): Promise<BwrapOutcome> {
  const { program, args, workspace, limits, signal } = run;
  if (signal.aborted) return { output: '', exitCode: null, signal: null, ended: 'stopped' };
  // bubblewrap's environment is empty, because /proc/1/environ makes it readable inside the
  // sandbox.
  const child = spawn(program, args, { env: {}, detached: true, stdio: ['ignore', ...PIPES] });
  const output = createBoundedOutput(limits.outputCharacters);
  const errors = createBoundedOutput(MAX_MESSAGE);
  const status = createBoundedOutput(MAX_MESSAGE);
  collectStream(child, 1, output.add);
  collectStream(child, 2, errors.add);
  let ended: TerminationReason | null = null;
  collectStream(child, STATUS_FD, (chunk) => {
    status.add(chunk);
    // The status report may arrive only after the sandbox was killed.
    if (ended !== null) killSandboxProcesses(parseSandboxReport(status.text()));
  });
  writeInput(child, USERS_FD, USERS(workspace));
  writeInput(child, GROUPS_FD, GROUPS);

  const end = (why: TerminationReason): void => {
    ended ??= why;
    // Kills the whole group, because bubblewrap's first process may be exiting while its second one
    // would wait forever.
    signalGroup(child, 'SIGKILL');
    killSandboxProcesses(parseSandboxReport(status.text()));
  };
  const stop = (): void => end('stopped');
  const timer = setTimeout(() => end('time'), limits.timeoutMs);
  const unwatch = watchLimits(run, status, end);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let killedBy: string | null = null;
  try {
    killedBy = await waitForClose(child, program);
  } finally {
    clearTimeout(timer);
    unwatch();
    signal.removeEventListener('abort', stop);
  }
  const { exitCode } = parseSandboxReport(status.text());
  // A kill from outside, for example by the OOM killer, does not mean that the sandbox could not
  // start.
  if (exitCode === null && ended === null && killedBy === null)
    throw createForbiddenError(errors.text());
  return {
    output: output.text(),
    exitCode: ended === null ? exitCode : null,
    signal: exitCode === null ? killedBy : getSignalName(exitCode),
    ended,
  };
}

/**
 * Kills the first process in the sandbox's namespace, and with it all others. That process leaves
 * bubblewrap's group shortly before it asks the kernel to die with its parent; a kill in between
 * would end only the parent and leave the command running. bubblewrap reports the process before
 * letting it continue.
 */
function killSandboxProcesses({ childPid, pidNamespace }: SandboxReport): void {
  if (childPid === null || pidNamespace === null) return;
  // By now the process id may belong to an unrelated process, which is in another namespace.
  if (readNamespace(String(childPid)) !== formatNamespaceName(pidNamespace)) return;
  try {
    process.kill(childPid, 'SIGKILL');
  } catch {}
}

/** Two outputs and the status report to read, users and groups to write. */
const PIPES = ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const;

/** Resolves with the signal that killed bubblewrap itself, or null. */
function waitForClose(child: ChildProcess, program: string): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  child.once('error', (error) => reject(createMissingError(program, error)));
  child.once('close', (_code, signal) => resolve(signal));
  return promise;
}

function collectStream(child: ChildProcess, fd: number, add: (chunk: Uint8Array) => void): void {
  const pipe: Readable | Writable | null | undefined = child.stdio[fd];
  if (pipe === null || pipe === undefined || !('read' in pipe)) return;
  pipe.on('data', add);
  // A broken pipe means that the process has ended; its exit is awaited anyway.
  finished(pipe, () => {});
}

function writeInput(child: ChildProcess, fd: number, text: string): void {
  const pipe = child.stdio[fd];
  if (!(pipe instanceof Writable)) return;
  finished(pipe, () => {});
  pipe.end(text);
}

/** Checks the limits of a sandbox every 100 ms until the returned function is called. */
function watchLimits(
  { workspace, limits }: BwrapRun,
  status: BoundedOutput,
  end: (why: TerminationReason) => void,
): () => void {
  const lostRoom = createDiskMonitor(workspace, limits.diskBytes);
  let watching = true;
  const look = async (): Promise<void> => {
    const { pidNamespace } = parseSandboxReport(status.text());
    const why = pidNamespace === null ? null : findExceededLimit(pidNamespace, limits);
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

function findExceededLimit(pidNamespace: number, limits: SandboxLimits): TerminationReason | null {
  const { processes, memoryBytes, writtenBytes } = measureTree(pidNamespace, limits.processes);
  if (processes > limits.processes) return 'processes';
  if (memoryBytes > limits.memoryBytes) return 'memory';
  return writtenBytes > limits.diskBytes ? 'disk' : null;
}

/**
 * Checks whether the disk that holds a folder has lost more than `bytes` of free space since the
 * first check. This check detects space that the counted writes miss: preallocated space, and
 * writes of processes that no parent has waited for.
 */
function createDiskMonitor(folder: string, bytes: number): () => Promise<boolean> {
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

/** Why Parley ended a command. */
export type TerminationReason = 'time' | 'stopped' | 'processes' | 'memory' | 'disk';

export interface CommandResult {
  /**
   * Standard output and standard error in the order of writing; if the output is too long, its
   * middle is left out.
   */
  readonly output: string;
  /** The exit code; null if Parley ended the command. */
  readonly exitCode: number | null;
  /**
   * The signal that ended the command, such as SIGSEGV; the exit code is then 128 plus the signal's
   * number.
   */
  readonly signal: string | null;
  /** Why Parley ended the command; null if the command ended by itself. */
  readonly ended: TerminationReason | null;
  readonly tookMs: number;
}

/** Returns the name of the signal that an exit code stands for, or null. */
function getSignalName(exitCode: number): string | null {
  const number = exitCode - 128;
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}

/** Collects the start and the end of an output of any length. */
interface BoundedOutput {
  add(chunk: Uint8Array): void;
  /** Returns the text, with a line in the middle that states how much was left out. */
  text(): string;
}

/**
 * Keeps the first and the last half of `limit` characters, plus at most one chunk in memory. The
 * characters in between are counted, and their number is reported (P10).
 */
export function createBoundedOutput(limit: number): BoundedOutput {
  const half = Math.floor(limit / 2);
  const decoder = new StringDecoder('utf8');
  let head = '';
  let tail = '';
  let total = 0;
  const take = (text: string): void => {
    total += text.length;
    const room = half - head.length;
    head += text.slice(0, room);
    tail = (tail + text.slice(Math.max(room, 0))).slice(-half);
  };
  return {
    add: (chunk) => take(decoder.write(Buffer.from(chunk))),
    text() {
      take(decoder.end());
      const left = total - head.length - tail.length;
      if (left === 0) return (head + tail).toWellFormed();
      const notice = `[Cut: ${formatCount(left)} of ${formatCount(total)} characters of output are left out here.]`;
      return `${head}\n\n${notice}\n\n${tail}`.toWellFormed();
    },
  };
}

/** The status that bubblewrap has reported so far. */
interface SandboxReport {
  /**
   * The process id, outside the sandbox, of its first process; known once the sandbox is being
   * created.
   */
  readonly childPid: number | null;
  /** The PID namespace of the processes in the sandbox; known as soon as `childPid` is. */
  readonly pidNamespace: number | null;
  /** The exit code; known once the command has ended. */
  readonly exitCode: number | null;
}

const Line = z.object({
  'child-pid': z.number().int().min(2).optional(),
  'pid-namespace': z.number().optional(),
  'exit-code': z.number().optional(),
});

/** Parses the JSON lines of the report; an incomplete last line is ignored. */
function parseSandboxReport(text: string): SandboxReport {
  const lines = text.split('\n').slice(0, -1).map(parseStatusLine);
  return {
    childPid: lines.findLast((line) => 'child-pid' in line)?.['child-pid'] ?? null,
    pidNamespace: lines.findLast((line) => 'pid-namespace' in line)?.['pid-namespace'] ?? null,
    exitCode: lines.findLast((line) => 'exit-code' in line)?.['exit-code'] ?? null,
  };
}

function parseStatusLine(line: string): z.infer<typeof Line> {
  try {
    return Line.parse(JSON.parse(line));
  } catch {
    return {}; // The line comes from another version of bubblewrap; without a process id, the command counts as not started.
  }
}

interface TreeUsage {
  readonly processes: number;
  /** The anonymous memory of the processes, in bytes; files in /tmp have a separate limit. */
  readonly memoryBytes: number;
  /**
   * The bytes written to disks so far; those of an ended process count once its parent has waited
   * for it.
   */
  readonly writtenBytes: number;
}

/**
 * Counts the processes of a namespace, their memory and their writes. The kernel's limits apply per
 * user and per process, and not to root; this function measures the sandbox as a whole. Processes
 * that end during the measurement are skipped. The count stops beyond `enough` processes and is
 * synchronous, because a fork bomb grows during every wait.
 */
function measureTree(pidNamespace: number, enough: number): TreeUsage {
  const wanted = formatNamespaceName(pidNamespace);
  let processes = 0;
  let memoryBytes = 0;
  let writtenBytes = 0;
  for (const id of readdirSync('/proc')) {
    if (!/^\d+$/.test(id) || readNamespace(id) !== wanted) continue;
    processes += 1;
    if (processes > enough) break;
    // Only anonymous memory is counted, because libraries are shared.
    memoryBytes += readProcNumber(`/proc/${id}/status`, /^RssAnon:\s+(\d+) kB$/m) * 1_024;
    writtenBytes += readProcNumber(`/proc/${id}/io`, /^write_bytes: (\d+)$/m);
  }
  return { processes, memoryBytes, writtenBytes };
}

function formatNamespaceName(pidNamespace: number): string {
  return `pid:[${pidNamespace}]`;
}

function readNamespace(id: string): string | null {
  try {
    return readlinkSync(`/proc/${id}/ns/pid`);
  } catch {
    return null; // The process has ended, or belongs to another user.
  }
}
