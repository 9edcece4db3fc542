import { readFileSync } from 'node:fs';

/** Whether a process runs. One that has ended and that its parent has not noticed yet (state Z) does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    // Without /proc (macOS) there is nobody to leave such a process behind: the system's first one notices at once.
    return process.platform !== 'linux';
  }
}
