import { extractText } from './extract-text.ts';
import { answerOnce } from './in-process.ts';

/**
 * The entry of the process that reads one document: `readInProcess` starts it with the size of the file,
 * and with which characters are wanted: the first one, and how many.
 */
const [size, from = 0, characters] = process.argv.slice(2).map(Number);
if (size === undefined || characters === undefined) throw new Error('Started without its order.');
await answerOnce(size, (bytes) => extractText(bytes, { from, characters }));
