import { numberIn } from '../processes.ts';
import { extractText } from './extract-text.ts';

/**
 * The entry of the process that reads one document: `readInProcess` starts it with the size of the file,
 * and with which characters are wanted: the first one, and how many. It writes a line when it is ready, takes the file
 * from its input, writes the result to its output and ends.
 */
const [size, from = 0, characters] = process.argv.slice(2).map(Number);
if (size === undefined || characters === undefined) throw new Error('Started without its order.');

process.stdout.write('\n');
const bytes = new Uint8Array(size);
let filled = 0;
for await (const chunk of process.stdin) {
  bytes.set(chunk, filled);
  filled += chunk.length;
}
const text = await extractText(bytes, { from, characters });
const result = JSON.stringify({ text, peakBytes: peakBytes() });
// A library may have left a timer or a promise behind; nothing of it is waited for.
process.stdout.write(result, () => process.exit(0));

/**
 * The most resident memory of this process. `maxRSS` counts what its parent had before `exec`, so that
 * under a large Parley every document would seem too large; it serves where there is no `/proc`.
 */
function peakBytes(): number {
  const kilobytes = numberIn('/proc/self/status', /^VmHWM:\s+(\d+) kB$/m);
  return (kilobytes || process.resourceUsage().maxRSS) * 1_024;
}
