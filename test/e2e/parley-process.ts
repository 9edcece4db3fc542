import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { main } from '@parley/cli/main';
import type { TestParley } from './parley-here.ts';

export const PROGRAM = resolve(import.meta.dirname, '../../apps/parley/bin/parley.js');
/**
 * A start that takes longer counts as failed; the limit is generous because a busy machine is slow.
 * In ms.
 */
const START_WITHIN_MS = 90_000;
/**
 * The limits of a long-running process, as a service sets them; otherwise the launcher would load
 * Node a second time.
 */
const LIMITS = { flags: ['--max-semi-space-size=8'], env: { MALLOC_ARENA_MAX: '2' } };

export interface CommandResult {
  /** The exit code, or the signal that killed the process. */
  readonly code: number | NodeJS.Signals;
  readonly out: string;
  readonly err: string;
  /** The time from the stop request (or from the start) to the exit. */
  readonly ms: number;
}

/** A Parley that runs as a user starts it, in a separate process. */
export interface ParleyProcess extends TestParley {
  readonly pid: number;
  /** Waits until the process exits. */
  over(): Promise<CommandResult>;
  /** Sends the signal and waits until the process exits. */
  end(signal?: NodeJS.Signals): Promise<CommandResult>;
}

/** A new data folder with the given settings; `remove` deletes it. */
export interface DataFolder {
  readonly path: string;
  remove(): void;
}

/** YAML is a superset of JSON, so the settings are written as JSON. */
export function makeDataFolder(settings: object): DataFolder {
  const path = mkdtempSync(join(tmpdir(), 'parley-e2e-'));
  writeSettings(path, settings);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Rewrites the settings of a data folder. */
export function writeSettings(data: string, settings: object): void {
  writeFileSync(join(data, 'parley.yaml'), JSON.stringify(settings, null, 2));
}

/**
 * Runs one command to completion in the test process, alongside the gateway that it queries.
 * Loading the program again takes most of a command's time; use `runParley` only to test the start
 * itself or plugins.
 */
export async function runCommand(args: readonly string[]): Promise<CommandResult> {
  const started = Date.now();
  let out = '';
  let err = '';
  const code = await main(args, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  });
  return { code, out, err, ms: Date.now() - started };
}

/** Runs one command to completion in a separate process. */
export async function runParley(args: readonly string[]): Promise<CommandResult> {
  const child = launchProgram(args);
  const started = Date.now();
  const [code, signal] = await once(child.process, 'close');
  return { code: signal ?? code, out: child.out(), err: child.err(), ms: Date.now() - started };
}

/**
 * Starts Parley (or a similar program) on a data folder and waits for its banner. Rejects with the
 * program's output if it exits first.
 */
export async function startParleyProcess(
  data: string,
  program?: string,
  args: readonly string[] = program === undefined ? ['--data', data, 'start'] : [data],
): Promise<ParleyProcess> {
  const child = launchProgram(args, program);
  const ended = once(child.process, 'close');
  await waitForBanner(child, ended);
  const [, address = ''] = /Chat now +(\S+)/.exec(child.out()) ?? [];
  const token = readFileSync(join(data, 'token'), 'utf8').trim();
  const over = async (): Promise<CommandResult> => {
    const asked = Date.now();
    const [code, by] = await ended;
    return { code: by ?? code, out: child.out(), err: child.err(), ms: Date.now() - asked };
  };
  return {
    pid: child.process.pid ?? 0,
    data,
    address,
    token,
    out: child.out,
    err: child.err,
    over,
    end(signal = 'SIGTERM') {
      child.process.kill(signal);
      return over();
    },
    async discard() {
      child.process.kill('SIGKILL');
      await ended;
    },
  };
}

/** A running `parley simulate` whose page is ready. */
export interface Simulation {
  readonly address: string;
  readonly token: string;
  end(signal?: NodeJS.Signals): Promise<CommandResult>;
}

/** Starts `parley simulate` and waits for its banner. */
export async function startSimulation(args: readonly string[]): Promise<Simulation> {
  const child = launchProgram(args);
  const ended = once(child.process, 'close');
  await waitForBanner(child, ended);
  const [, address = ''] = /Play +(\S+)/.exec(child.out()) ?? [];
  const [, data = ''] = /Data +(\S+),/.exec(child.out()) ?? [];
  return {
    address,
    token: readFileSync(join(data, 'token'), 'utf8').trim(),
    async end(signal = 'SIGTERM') {
      const asked = Date.now();
      child.process.kill(signal);
      const [code, by] = await ended;
      return { code: by ?? code, out: child.out(), err: child.err(), ms: Date.now() - asked };
    },
  };
}

interface LaunchedProcess {
  readonly process: ChildProcess;
  out(): string;
  err(): string;
}

function launchProgram(args: readonly string[], program = PROGRAM): LaunchedProcess {
  const { PARLEY_HOME: _home, ...env } = process.env;
  const child = spawn(process.execPath, [...LIMITS.flags, program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...LIMITS.env, ...env },
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return { process: child, out: () => out, err: () => err };
}

async function waitForBanner(child: LaunchedProcess, ended: Promise<unknown>): Promise<void> {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  const deadline = Date.now() + START_WITHIN_MS;
  while (!child.out().includes('Stop with Ctrl-C')) {
    if (over) throw new Error(`Parley ended instead of starting:\n${child.out()}${child.err()}`);
    if (Date.now() > deadline) {
      child.process.kill('SIGKILL');
      throw new Error(`Parley did not start:\n${child.out()}${child.err()}`);
    }
    await new Promise((wake) => setTimeout(wake, 10));
  }
}
