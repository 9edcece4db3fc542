import { type ChildProcess, fork, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { z } from 'zod';

/** Ms since 1970 with fractions, the same in every process of this machine. */
export function getPreciseTime(): number {
  return performance.timeOrigin + performance.now();
}

/** A program to start, with its folder. */
export interface ProgramStart {
  /** Used for the name of the log file. */
  readonly name: string;
  readonly folder: string;
  /** The arguments of node: flags, the file, its arguments. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The text that the program writes to standard output when it is ready. */
  readonly readyLine: string;
}

/** Times are in ms since 1970. */
export interface StartedProcess {
  readonly pid: number;
  readonly spawnedAt: number;
  /** The time at which the process reported that it is ready. */
  readonly readyAt: Promise<number>;
  /** The standard output of the process so far. */
  output(): string;
  /** Resolves when the process has exited for any reason. */
  readonly ended: Promise<void>;
  /** Stops the process with SIGTERM, as a supervisor does. */
  stop(): Promise<void>;
}

const Manifest = z.object({
  scripts: z.object({ start: z.templateLiteral(['node ', z.string()]) }),
});
const ROOT = join(import.meta.dirname, '../..');

/** How node is started: flags, file and arguments. */
export interface NodeStart {
  readonly args: readonly string[];
}

/**
 * The arguments that `npm start` passes to node, read from the manifest so that they cannot differ.
 */
export function readNpmStart(): NodeStart {
  const { scripts } = Manifest.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
  return { args: scripts.start.split(' ').slice(1) };
}

/** Starts node itself, without a shell or npm in between, as a user does on Node 24. */
export function startProcess({ name, folder, args, env, readyLine }: ProgramStart): StartedProcess {
  mkdirSync(join(folder, 'tmp'), { recursive: true });
  const errors = join(folder, `${name}.log`);
  const log = openSync(errors, 'a');
  const spawnedAt = getPreciseTime();
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    // Node's compile cache is in the temporary folder unless another folder is given.
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: join(folder, 'tmp'), ...env },
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  // A failing benchmark does not leave child processes behind.
  const end = () => void child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  const readyAt = waitForLine(child, readyLine, () => output, errors);
  readyAt.catch(() => {}); // Callers that do not wait for the result receive the failure from the double.
  if (child.pid === undefined) throw new Error(`${name} could not be started.`);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const { pid } = child;
  return { pid, spawnedAt, readyAt, ended, output: () => output, stop: () => stopProcess(child) };
}

function waitForLine(
  child: ChildProcess,
  line: string,
  output: () => string,
  errors: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', () => {
      if (output().includes(line)) resolve(getPreciseTime());
    });
    child.once('exit', (code) => {
      const log = readFileSync(errors, 'utf8').slice(-2_000);
      reject(new Error(`It ended with code ${code}: ${output()}${log}`));
    });
  });
}

function stopProcess(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    const timer = setTimeout(() => child.kill('SIGKILL'), 12_000);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

/** Memory of a process and all its children, in MB (2^20 bytes). */
export interface TreeMemory {
  /** Resident; memory shared between processes is counted in each. */
  readonly rss: number;
  /** Proportional; shared memory is divided among the processes. */
  readonly pss: number;
  readonly processes: number;
}

/** Ticks per second in `/proc`; 100 on every Linux that Node runs on. */
const TICKS = 100;

/** Reads the kernel's own memory accounting. Linux only. */
export function readTreeMemory(pid: number): TreeMemory {
  let rss = 0;
  let pss = 0;
  const rollups = listProcessTree(pid).flatMap((member) => readRollup(member, member === pid));
  for (const rollup of rollups) {
    rss += readKilobytes(rollup, 'Rss');
    pss += readKilobytes(rollup, 'Pss');
  }
  return { rss: rss / 1024, pss: pss / 1024, processes: rollups.length };
}

/** Children such as PostgreSQL workers may exit while they are listed. */
function readRollup(pid: number, mustRun: boolean): readonly string[] {
  try {
    return [readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')];
  } catch (error) {
    if (mustRun) throw error;
    return [];
  }
}

/**
 * Processor time of a process and its children so far, including those that ended, in ms, with a
 * resolution of 10.
 */
export function readTreeCpuMs(pid: number): number {
  const ticks = listProcessTree(pid).map((member) => readStat(member).ticks);
  return (ticks.reduce((sum, one) => sum + one, 0) * 1000) / TICKS;
}

/** The parent of this process. */
export function getParentPid(pid: number): number {
  return readStat(pid).parent;
}

/** The peak resident memory of a process, in MB. */
export function readPeakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return readKilobytes(status, 'VmHWM') / 1024;
}

/** The open files and sockets of a process. */
export function countOpenFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function listProcessTree(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      parents.set(Number(name), readStat(Number(name)).parent);
    } catch {
      // The process ended in the meantime.
    }
  }
  const tree = [root];
  for (const member of tree) {
    for (const [pid, parent] of parents) if (parent === member) tree.push(pid);
  }
  return tree;
}

/** Field numbers as in proc_pid_stat(5); the name in parentheses may contain spaces. */
function readStat(pid: number): { parent: number; ticks: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  // User and system time of the process, then of its children that have ended.
  return { parent: field(4), ticks: field(14) + field(15) + field(16) + field(17) };
}

function readKilobytes(rollup: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1] ?? Number.NaN);
}

const Told = z.union([z.object({ result: z.unknown() }), z.object({ failure: z.string() })]);

/** A program in this folder that runs alongside and answers requests, one at a time. */
export interface ChildProgram {
  /**
   * The result of a request, or the greeting for the initial request. Rejects with the error raised
   * in the program.
   */
  ask(order?: object): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Starts a program in this folder with `flags` for node; the program sends a greeting on its own.
 */
export function startChild(
  file: string,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): ChildProgram {
  const child = fork(join(import.meta.dirname, file), args, {
    execArgv: [...flags],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return {
    ask: (order) => readNextResult(child, file, order),
    close: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once('exit', () => resolve());
        child.disconnect();
      }),
  };
}

function readNextResult(child: ChildProcess, file: string, order?: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`${file} ended with code ${code}`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      const told = Told.parse(message);
      if ('failure' in told) reject(new Error(`${file}: ${told.failure}`));
      else resolve(told.result);
    });
    if (order !== undefined) child.send(order);
  });
}
