import { openSync } from 'node:fs';
import { readProcNumber } from '../processes.ts';

/**
 * The main function of a process that reads one file: it writes a line when it is ready, reads the
 * file from standard input, writes the result to standard output and exits.
 */
export async function answerOnce(
  size: number,
  read: (bytes: Uint8Array<ArrayBuffer>) => Promise<unknown>,
): Promise<void> {
  const peakBytes = createPeakReader();
  process.stdout.write('\n');
  const bytes = new Uint8Array(size);
  let filled = 0;
  for await (const chunk of process.stdin) {
    bytes.set(chunk, filled);
    filled += chunk.length;
  }
  const result = await read(bytes);
  const report = JSON.stringify({ result, peakBytes: peakBytes() });
  // A library may have left a pending timer or promise, which is not awaited.
  process.stdout.write(report, () => process.exit(0));
}

/**
 * The peak resident memory of this process. `maxRSS` includes the memory its parent used before
 * `exec`, so that under a large Parley process every file would seem too large; it is used only
 * where there is no `/proc`. Opened before the kernel forbids this process to open anything.
 */
function createPeakReader(): () => number {
  const maxRss = (): number => process.resourceUsage().maxRSS * 1_024;
  try {
    const status = openSync('/proc/self/status', 'r');
    return () => readProcNumber(status, /^VmHWM:\s+(\d+) kB$/m) * 1_024 || maxRss();
  } catch {
    return maxRss; // This machine has no `/proc`.
  }
}
