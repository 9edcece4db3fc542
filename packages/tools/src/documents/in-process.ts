import { numberIn } from '../processes.ts';

/**
 * What a process that reads one file begins with: it writes a line when it is ready, and takes the file
 * from its input.
 */
export async function takeFile(size: number): Promise<Uint8Array<ArrayBuffer>> {
  process.stdout.write('\n');
  const bytes = new Uint8Array(size);
  let filled = 0;
  for await (const chunk of process.stdin) {
    bytes.set(chunk, filled);
    filled += chunk.length;
  }
  return bytes;
}

/** What it ends with: the result, on its output. */
export function giveResult(result: unknown): void {
  const report = JSON.stringify({ result, peakBytes: peakBytes() });
  // A library may have left a timer or a promise behind; nothing of it is waited for.
  process.stdout.write(report, () => process.exit(0));
}

/**
 * The most resident memory of this process. `maxRSS` counts what its parent had before `exec`, so that
 * under a large Parley every document would seem too large; it serves where there is no `/proc`.
 */
function peakBytes(): number {
  const kilobytes = numberIn('/proc/self/status', /^VmHWM:\s+(\d+) kB$/m);
  return (kilobytes || process.resourceUsage().maxRSS) * 1_024;
}
