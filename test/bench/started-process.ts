import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { preciseNow } from './clock.ts';

/** A program to start, and where. */
export interface Program {
  /** Names its log in the folder. */
  readonly name: string;
  readonly folder: string;
  /** For node: flags, the file, its arguments. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What it writes to standard output once it works. */
  readonly readyLine: string;
}

/** A started process. Times in ms since 1970. */
export interface StartedProcess {
  readonly pid: number;
  readonly spawnedAt: number;
  /** When it said that it is ready. */
  readonly readyAt: Promise<number>;
  /** What it has written to standard output so far. */
  output(): string;
  /** Ends it by SIGTERM, as a supervisor does. */
  stop(): Promise<void>;
}

const Manifest = z.object({ scripts: z.object({ start: z.string() }) });
const ROOT = join(import.meta.dirname, '../..');

/** What `npm start` gives to node, flags included; from the manifest, so that they cannot differ. */
export function npmStart(): string[] {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const [program, ...args] = Manifest.parse(manifest).scripts.start.split(' ');
  if (program !== 'node') throw new Error(`"npm start" runs ${program}, and not node.`);
  return args;
}

/** Starts node itself, no shell and no npm between, as a user does on Node 24. */
export function startProcess({ name, folder, args, env, readyLine }: Program): StartedProcess {
  mkdirSync(join(folder, 'tmp'), { recursive: true });
  const errors = join(folder, `${name}.log`);
  const log = openSync(errors, 'a');
  const spawnedAt = preciseNow();
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    // Node's compile cache lives in the temporary folder unless a place is named.
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: join(folder, 'tmp'), ...env },
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  // A benchmark that fails leaves nobody behind.
  const end = () => void child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  const readyAt = lineSeen(child, readyLine, () => output, errors);
  readyAt.catch(() => {}); // Those who do not wait for it learn of a failure from the double.
  if (child.pid === undefined) throw new Error(`${name} could not be started.`);
  return { pid: child.pid, spawnedAt, readyAt, output: () => output, stop: () => stop(child) };
}

function lineSeen(
  child: ChildProcess,
  line: string,
  output: () => string,
  errors: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', () => {
      if (output().includes(line)) resolve(preciseNow());
    });
    child.once('exit', (code) => {
      const log = readFileSync(errors, 'utf8').slice(-2_000);
      reject(new Error(`It ended with code ${code}: ${output()}${log}`));
    });
  });
}

function stop(child: ChildProcess): Promise<void> {
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
