import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Reads a number from a `/proc` file, given by path or descriptor; 0 once the process has ended,
 * and without `/proc`.
 */
export function readProcNumber(path: string | number, line: RegExp): number {
  try {
    return Number(line.exec(readFileSync(path, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Signals a process that was started `detached`, with its whole process group. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // The process group is already empty.
  }
}

/**
 * Kills every process whose environment contains `name=value`: those started with it, and their
 * descendants, even in other process groups or after their parent has ended. Does nothing without
 * `/proc`.
 */
export function killByEnvironment(name: string, value: string): void {
  const entry = `${name}=${value}`;
  for (const pid of listProcessIds()) {
    if (!readEnvironment(pid).includes(entry)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {}
  }
}

function listProcessIds(): readonly number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return []; // There is no `/proc` on this machine.
  }
}

function readEnvironment(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return []; // The process has ended, or belongs to another user.
  }
}
