import { extractText } from './extract-text.ts';
import { runReaderProcess } from './in-process.ts';

/**
 * The entry point of the process that reads one document. `readInProcess` starts this process with
 * the size of the file and the range of characters: the offset and the count.
 */
const [size, from = 0, characters] = process.argv.slice(2).map(Number);
if (size === undefined || characters === undefined)
  throw new Error('Started without its arguments.');
await runReaderProcess(size, (bytes) => extractText(bytes, { from, characters }));
