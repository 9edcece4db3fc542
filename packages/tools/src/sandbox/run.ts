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
  GROUPS,
  GROUPS_FD,
  type SandboxLimits,
  STATUS_FD,
  sandboxForbiddenError,
  sandboxMissingError,
  USERS,
  USERS_FD,
} from './arguments.ts';

/** One start of bubblewrap. */
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
  readonly ended: Ending | null;
}

/** The interval at which a sandbox is measured, in ms. */
const WATCH_MS = 100;
/** The longest message of bubblewrap itself, in characters. */
const MAX_MESSAGE = 2_000;

/**
 * Runs bubblewrap to its end. Killing it kills all that is inside: it is their parent and the first
 * process of their namespace. Throws SandboxError when the command was never started.
 */
export async function runBwrap(run: BwrapRun): Promise<BwrapOutcome> {
  const { program, args, workspace, limits, signal } = run;
  if (signal.aborted) return { output: '', exitCode: null, signal: null, ended: 'stopped' };
  // An environment of its own, and empty: what is in it can be read inside, in /proc/1/environ.
  const child = spawn(program, args, { env: {}, detached: true, stdio: ['ignore', ...PIPES] });
  const output = keepEnds(limits.outputCharacters);
  const errors = keepEnds(MAX_MESSAGE);
  const status = keepEnds(MAX_MESSAGE);
  collectFrom(child, 1, output.add);
  collectFrom(child, 2, errors.add);
  let ended: Ending | null = null;
  collectFrom(child, STATUS_FD, (chunk) => {
    status.add(chunk);
    // The report was still on its way when the sandbox was ended.
    if (ended !== null) killInside(readReport(status.text()));
  });
  writeInput(child, USERS_FD, USERS(workspace));
  writeInput(child, GROUPS_FD, GROUPS);

  const end = (why: Ending): void => {
    ended ??= why;
    // The group, because bubblewrap may be dying between its two processes, and the second of them
    // would wait for ever.
    signalGroup(child, 'SIGKILL');
    killInside(readReport(status.text()));
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
  if (exitCode === null && ended === null && killedBy === null)
    throw sandboxForbiddenError(errors.text());
  return {
    output: output.text(),
    exitCode: ended === null ? exitCode : null,
    signal: exitCode === null ? killedBy : signalOf(exitCode),
    ended,
  };
}

/**
 * Kills the first process of the sandbox's namespace, and with it all that is inside. It leaves the group of
 * bubblewrap a moment before it asks the kernel to die with its parent: killed in between, the parent alone would end,
 * and the command would run on. bubblewrap reports the process before it lets it go on.
 */
function killInside({ childPid, pidNamespace }: SandboxReport): void {
  if (childPid === null || pidNamespace === null) return;
  // Once it has ended, its number may be that of another process, in another namespace.
  if (namespaceOf(String(childPid)) !== namespaceName(pidNamespace)) return;
  try {
    process.kill(childPid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Outputs and status out, users and groups in. */
const PIPES = ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const;

/** Resolves with the signal that ended bubblewrap itself, if one did. */
function closed(child: ChildProcess, program: string): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  child.once('error', (error) => reject(sandboxMissingError(program, error)));
  child.once('close', (_code, signal) => resolve(signal));
  return promise;
}

function collectFrom(child: ChildProcess, fd: number, add: (chunk: Uint8Array) => void): void {
  const pipe: Readable | Writable | null | undefined = child.stdio[fd];
  if (pipe === null || pipe === undefined || !('read' in pipe)) return;
  pipe.on('data', add);
  // A pipe that breaks is the end of the process, which is waited for anyway.
  finished(pipe, () => {});
}

function writeInput(child: ChildProcess, fd: number, text: string): void {
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
    const why = pidNamespace === null ? null : tooMuchOutput(pidNamespace, limits);
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

function tooMuchOutput(pidNamespace: number, limits: SandboxLimits): Ending | null {
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

/** Why a command was ended before its time. */
export type Ending = 'time' | 'stopped' | 'processes' | 'memory' | 'disk';

/** The result of a command. */
export interface CommandResult {
  /** Both outputs in the order of writing, cut in the middle. */
  readonly output: string;
  /** Null where it was ended by Parley. */
  readonly exitCode: number | null;
  /** Such as SIGSEGV, when one ended it: its exit code is then 128 and the signal's number. */
  readonly signal: string | null;
  /** The reason for which Parley ended it; null when it ended by itself. */
  readonly ended: Ending | null;
  /** In ms. */
  readonly tookMs: number;
}

/** The name of the signal behind an exit code, if there is one. */
function signalOf(exitCode: number): string | null {
  const number = exitCode - 128;
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}

/** Output as it is kept: its start and its end, however much there was. */
interface EndsKeeper {
  add(chunk: Uint8Array): void;
  /** The text, with a line in its middle where something was left out. */
  text(): string;
}

/**
 * Keeps the first and the last half of `limit` characters, and never more in memory than that and one
 * chunk. What lies between is counted and reported (P10). Bytes are read as UTF-8.
 */
export function keepEnds(limit: number): EndsKeeper {
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

/** The report of bubblewrap on its status pipe so far. */
interface SandboxReport {
  /** The first process inside, by its number outside; known once the sandbox is being made. */
  readonly childPid: number | null;
  /** The namespace of the processes inside; known as soon as `childPid` is. */
  readonly pidNamespace: number | null;
  /** Known once the command has run to its end. */
  readonly exitCode: number | null;
}

const Line = z.object({
  'child-pid': z.number().int().min(2).optional(),
  'pid-namespace': z.number().optional(),
  'exit-code': z.number().optional(),
});

/** Reads the lines of JSON; what is not complete yet is left out. */
function readReport(text: string): SandboxReport {
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
    return {}; // A line of a newer version; without the numbers the command counts as not run.
  }
}

/** The usage of a sandbox at a moment. */
interface TreeUsage {
  readonly processes: number;
  /** Their own memory, in bytes; files in /tmp have a limit of their own. */
  readonly memoryBytes: number;
  /** The bytes it wrote to disks so far; those of ended processes count with those who waited for them. */
  readonly writtenBytes: number;
}

/**
 * Counts the processes of a namespace, their memory and what they wrote. The kernel's own limits count per user and per
 * process, and not at all for root; this sees the sandbox as a whole. What ends meanwhile is left out.
 * Stops counting beyond `enough` processes, and does not wait: a fork bomb grows while others wait.
 */
function treeUsage(pidNamespace: number, enough: number): TreeUsage {
  const wanted = namespaceName(pidNamespace);
  let processes = 0;
  let memoryBytes = 0;
  let writtenBytes = 0;
  for (const id of readdirSync('/proc')) {
    if (!/^\d+$/.test(id) || namespaceOf(id) !== wanted) continue;
    processes += 1;
    if (processes > enough) break;
    // Anonymous memory alone: libraries are shared by everyone.
    memoryBytes += readProcNumber(`/proc/${id}/status`, /^RssAnon:\s+(\d+) kB$/m) * 1_024;
    writtenBytes += readProcNumber(`/proc/${id}/io`, /^write_bytes: (\d+)$/m);
  }
  return { processes, memoryBytes, writtenBytes };
}

function namespaceName(pidNamespace: number): string {
  return `pid:[${pidNamespace}]`;
}

function namespaceOf(id: string): string | null {
  try {
    return readlinkSync(`/proc/${id}/ns/pid`);
  } catch {
    return null; // Ended, or of another user.
  }
}
