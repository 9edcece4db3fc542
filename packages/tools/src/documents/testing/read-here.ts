import type { ReadDocument } from '../document-reader.ts';
import { refuseDocument } from '../document-text.ts';
import { extractText } from '../extract-text.ts';

/**
 * For tests: reads a document in the current process, with the function that a separate process
 * runs in production. Starting that process takes 0.2 s of CPU time, which tests of text extraction
 * do not need.
 */
export const readHere: ReadDocument = async ({ load, from = 0, characters }) => {
  const bytes = await load();
  return bytes === null
    ? refuseDocument('it is no longer kept')
    : extractText(Uint8Array.from(bytes), { from, characters });
};
