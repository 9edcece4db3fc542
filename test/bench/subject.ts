import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { preciseNow } from './clock.ts';
import type { TelegramSide } from './doubles.ts';

/** What is measured: Parley, or the baseline beside it. */
export type SubjectName = 'parley' | 'bare';
export const SUBJECTS: readonly SubjectName[] = ['parley', 'bare'];

/** Where a subject runs. `folder` is kept between starts or not, which decides what is warm. */
export interface Surroundings {
  readonly folder: string;
  readonly telegram: TelegramSide;
  readonly modelUrl: string;
  /** More arguments for node, for example `--cpu-prof`. */
  readonly nodeArguments?: readonly string[];
}

/** A started process. Times in ms since 1970. */
export interface RunningSubject {
  readonly pid: number;
  readonly spawnedAt: number;
  /** When it said that it is ready. */
  readonly readyAt: Promise<number>;
  /** Ends it by SIGTERM, as a supervisor does. */
  stop(): Promise<void>;
}

const Manifest = z.object({ scripts: z.object({ start: z.string() }) });
const ROOT = join(import.meta.dirname, '../..');

/** Starts a subject as its user does on Node 24: node itself, no shell and no npm between. */
export function startSubject(name: SubjectName, where: Surroundings): RunningSubject {
  mkdirSync(join(where.folder, 'tmp'), { recursive: true });
  const { args, env, readyLine } = name === 'parley' ? parley(where) : bare(where);
  const errors = join(where.folder, `${name}.log`);
  const log = openSync(errors, 'a');
  const spawnedAt = preciseNow();
  const child = spawn(process.execPath, [...(where.nodeArguments ?? []), ...args], {
    cwd: ROOT,
    // Node's compile cache lives in the temporary folder unless a place is named.
    env: { PATH: process.env.PATH, HOME: where.folder, TMPDIR: join(where.folder, 'tmp'), ...env },
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  const readyAt = lineSeen(child, readyLine, errors);
  readyAt.catch(() => {}); // Those who do not wait for it learn of a failure from the double.
  if (child.pid === undefined) throw new Error(`${name} could not be started.`);
  return { pid: child.pid, spawnedAt, readyAt, stop: () => stop(child) };
}

/** Writes Parley's settings once; the workspace and the database are its own business. */
function parley({ folder, telegram, modelUrl }: Surroundings) {
  const data = join(folder, 'data');
  mkdirSync(data, { recursive: true });
  const settings = {
    model: { provider: 'openai-compatible', baseUrl: modelUrl, model: 'double' },
    channels: {
      telegram: {
        token: telegram.token,
        apiRoot: telegram.apiRoot,
        // The bot it is compared with does not pace itself either.
        pace: false,
        access: { direct: 'open' },
      },
    },
    http: { port: 0 },
  };
  // JSON is YAML.
  writeFileSync(join(data, 'parley.yaml'), JSON.stringify(settings));
  return { args: [...npmStart(), '--data', data], env: {}, readyLine: 'Parley is running' };
}

/** What `npm start` gives to node, flags included; from the manifest, so that they cannot differ. */
function npmStart(): string[] {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const [program, ...args] = Manifest.parse(manifest).scripts.start.split(' ');
  if (program !== 'node') throw new Error(`"npm start" runs ${program}, and not node.`);
  return args;
}

function bare({ folder, telegram, modelUrl }: Surroundings) {
  const env = {
    BOT_TOKEN: telegram.token,
    API_ROOT: telegram.apiRoot,
    MODEL_URL: modelUrl,
    // What Parley turns on for itself.
    NODE_COMPILE_CACHE: join(folder, 'tmp/node-compile-cache'),
  };
  return { args: [join(import.meta.dirname, 'bare-telegraf.ts')], env, readyLine: 'ready' };
}

function lineSeen(child: ChildProcess, line: string, errors: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
      if (output.includes(line)) resolve(preciseNow());
    });
    child.once('exit', (code) => {
      reject(
        new Error(
          `It ended with code ${code}: ${output}${readFileSync(errors, 'utf8').slice(-2_000)}`,
        ),
      );
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
