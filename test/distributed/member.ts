import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { locateDataFolder, type StartOptions, startParley } from '@parley/cli';
import { systemTime } from '@parley/core';

const PROGRAM = resolve(import.meta.dirname, '../../apps/parley/bin/parley.js');
const START_WITHIN_MS = 90_000;

/** The role of a process in a deployment; `start` combines the other two roles. */
export type MemberRole = 'gateway' | 'worker' | 'start';

/** A gateway or worker of a deployment, in the test's process or in a separate process. */
export interface Member {
  readonly role: MemberRole;
  /** The id of the process in which it runs. */
  readonly pid: number;
  readonly address: string;
  /** The log so far; for a separate process, all of its output. */
  words(): string;
  /** Shuts it down gracefully and waits until it has ended. */
  end(): Promise<unknown>;
}

/** A gateway or worker in a separate process. */
export interface SeparateMember extends Member {
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal, SIGTERM by default, and waits for the exit. */
  end(signal?: NodeJS.Signals): Promise<{ readonly code: number | NodeJS.Signals }>;
}

/** The files and options of a gateway or worker in the test's process. */
interface InProcessOptions {
  readonly data: string;
  readonly config: string;
  readonly port: number;
  readonly clock?: StartOptions['clock'] | undefined;
}

/**
 * Starts a gateway or worker in the test's process, at a fraction of the cost of a separate
 * process. It has separate connections, queue and bus, and shares with other gateways and workers
 * only what separate processes share.
 */
export async function startMemberInProcess(
  role: MemberRole,
  { data, config, port, clock = systemTime.clock }: InProcessOptions,
): Promise<Member> {
  const { PARLEY_HOME: _home, ...env } = process.env;
  // As in a Parley process, files are private to its user. The umask ends with the test file.
  process.umask(0o077);
  let words = '';
  const logTo = {
    write(line: string) {
      words += line;
    },
  };
  const parley = await startParley({
    folder: { ...locateDataFolder(data, env), settingsFile: config },
    env,
    role: role === 'start' ? 'all' : role,
    port,
    ...systemTime,
    clock,
    checkpoint() {},
    logTo,
  });
  // Like a process, reports that it is ready only when its channels have had time to connect.
  await parley.banner();
  return {
    role,
    pid: process.pid,
    address: parley.address,
    words: () => words,
    end: () => parley.close(),
  };
}

/**
 * Starts a gateway or worker the way a user would, for tests whose subject is a signal, an exit
 * code, a kill or the command line, and waits for its banner; `env` is added to the environment of
 * this process.
 */
export async function startSeparateMember(
  role: MemberRole,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<SeparateMember> {
  const child = launchMember([role, ...args], env);
  const ended = once(child.process, 'close');
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const deadline = Date.now() + START_WITHIN_MS;
  while (!child.words().includes('Stop with Ctrl-C')) {
    if (isOver || Date.now() > deadline) {
      child.process.kill('SIGKILL');
      throw new Error(`parley ${role} did not start:\n${child.words()}`);
    }
    await new Promise((wake) => setTimeout(wake, 20));
  }
  const [, address = ''] = /(?:Chat now|Address) +(http:\/\/[^/\s]+)/.exec(child.words()) ?? [];
  return {
    role,
    pid: child.process.pid ?? 0,
    address,
    words: child.words,
    signal: (signal) => void child.process.kill(signal),
    async end(signal = 'SIGTERM') {
      child.process.kill(signal);
      const [code, by] = await ended;
      return { code: by ?? code };
    },
  };
}

function launchMember(
  args: readonly string[],
  added: Readonly<Record<string, string>>,
): { process: ChildProcess; words(): string } {
  const { PARLEY_HOME: _home, ...env } = process.env;
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, ...added },
  });
  let words = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      words += text;
    });
  }
  return { process: child, words: () => words };
}
