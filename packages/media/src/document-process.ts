import { extractText } from './extract-text.ts';

/**
 * The entry of the process that reads one document: `readInProcess` starts it with the number of
 * characters that are wanted and the size of the file. It writes a line when it is ready, takes the file
 * from its input, writes the result to its output and ends.
 */
const [characters, size] = process.argv.slice(2).map(Number);
if (characters === undefined || size === undefined) throw new Error('Started without its order.');

process.stdout.write('\n');
const bytes = new Uint8Array(size);
let filled = 0;
for await (const chunk of process.stdin) {
  bytes.set(chunk, filled);
  filled += chunk.length;
}
const text = await extractText(bytes, { characters });
const result = JSON.stringify({ text, peakBytes: process.resourceUsage().maxRSS * 1_024 });
// A library may have left a timer or a promise behind; nothing of it is waited for.
process.stdout.write(result, () => process.exit(0));
