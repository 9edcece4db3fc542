import type { ReadDocument } from '../document-reader.ts';
import { refused } from '../document-text.ts';
import { extractText } from '../extract-text.ts';

/**
 * For tests of what becomes of a text: reads a document in the process of the test by the function that its own process
 * runs otherwise, whose start takes a fifth of a second of processor.
 */
export const readHere: ReadDocument = async ({ load, from = 0, characters }) => {
  const bytes = await load();
  return bytes === null
    ? refused('it is no longer kept')
    : extractText(Uint8Array.from(bytes), { from, characters });
};
