import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A number in a file of `/proc`, by its path or open; 0 once the process has ended, and where there is no `/proc`. */
export function readProcNumber(path: string | number, line: RegExp): number {
  try {
    return Number(line.exec(readFileSync(path, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Signals a process that was started `detached`, and all that it has started itself. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // No process of the group is left.
  }
}

/**
 * Ends every process whose environment has `name=value`: one that was started with it, and all that they
 * have started, also in a group of their own or after their parent has ended. Does nothing where there is
 * no `/proc`.
 */
export function killByEnvironment(name: string, value: string): void {
  const entry = `${name}=${value}`;
  for (const pid of processIds()) {
    if (!environmentOf(pid).includes(entry)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

function processIds(): readonly number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return []; // No Linux.
  }
}

function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return []; // It has ended, or is of another user.
  }
}
