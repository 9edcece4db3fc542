import { openSync } from 'node:fs';
import { readProcNumber } from '../processes.ts';

/**
 * The main function of a process that reads one file: it writes a line when it is ready, reads the
 * file from standard input, writes the result to standard output and exits.
 */
export async function runReaderProcess(
  size: number,
  read: (bytes: Uint8Array<ArrayBuffer>) => Promise<unknown>,
): Promise<void> {
  const peakBytes = createPeakMemoryReader();
  process.stdout.write('\n');
  const bytes = new Uint8Array(size);
  let filled = 0;
  for await (const chunk of process.stdin) {
    bytes.set(chunk, filled);
    filled += chunk.length;
  }
  const result = await read(bytes);
  const report = JSON.stringify({ result, peakBytes: peakBytes() });
  // A timer or promise left pending by a library is not awaited.
  process.stdout.write(report, () => process.exit(0));
}

/**
 * Returns the peak resident memory of this process, in bytes. `maxRSS` includes the memory its
 * parent used before `exec`, so that under a large Parley process every file would seem too large;
 * it is used only where there is no `/proc`. The file is opened before the kernel forbids this
 * process to open any.
 */
function createPeakMemoryReader(): () => number {
  const maxRss = (): number => process.resourceUsage().maxRSS * 1_024;
  try {
    const status = openSync('/proc/self/status', 'r');
    return () => readProcNumber(status, /^VmHWM:\s+(\d+) kB$/m) * 1_024 || maxRss();
  } catch {
    return maxRss; // There is no `/proc` on this machine.
  }
}
