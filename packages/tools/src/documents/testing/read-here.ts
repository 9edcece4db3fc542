import type { ReadDocument } from '../document-reader.ts';
import { refuseDocument } from '../document-text.ts';
import { extractText } from '../extract-text.ts';

/**
 * Reads a document in the process of the test, with the function that a process of its own runs in production. Starting
 * that process costs 0.2 s of processor, and tests of the text do not need it.
 */
export const readHere: ReadDocument = async ({ load, from = 0, characters }) => {
  const bytes = await load();
  return bytes === null
    ? refuseDocument('it is no longer kept')
    : extractText(Uint8Array.from(bytes), { from, characters });
};
