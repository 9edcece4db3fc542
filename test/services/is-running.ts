import { readFileSync } from 'node:fs';

/**
 * Whether a process is running. A zombie (state Z) that its parent has not reaped yet does not
 * count.
 */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // Without /proc (macOS) no such zombie remains: launchd reaps orphans immediately.
    return process.platform !== 'linux';
  }
}
