import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A number in a file of `/proc`, by its path or open; 0 once the process has ended, and where there is no `/proc`. */
export function numberIn(path: string | number, line: RegExp): number {
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
