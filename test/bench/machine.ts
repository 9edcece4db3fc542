import { execFileSync } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';

/** What the figures depend on besides the code. */
export interface MachineFacts {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGb: number;
  readonly node: string;
  readonly commit: string;
  /** Processes that wanted a core in the last minute, at the start of the run. */
  readonly load: number;
}

/** Above this the machine has other things to do, and figures are worse than they should be. */
export const QUIET_LOAD = 0.5;

/** Looks around. */
export function machineFacts(): MachineFacts {
  const all = cpus();
  return {
    cores: all.length,
    cpu: all[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    commit: commit(),
    load: loadavg()[0] ?? 0,
  };
}

function commit(): string {
  try {
    const options = { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' } as const;
    return execFileSync('git', ['describe', '--always', '--dirty'], options).trim();
  } catch {
    return 'unknown'; // A copy without git's folder can be measured as well.
  }
}
