import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { createDocumentReader } from './document-reader.ts';
import { aPdf } from './testing/sample-files.ts';

const never = new AbortController().signal;
const limits = { characters: 100 };

/** An archive whose text takes very long to find: markup that is opened and never closed. */
function slowFile(): Uint8Array {
  const xml = '<!--'.repeat(1_000_000);
  return zipSync({ 'ppt/presentation.xml': strToU8('x'), 'ppt/slides/slide1.xml': strToU8(xml) });
}

describe('the reader of documents', () => {
  it('[F10] reads in a thread of its own', async () => {
    const read = createDocumentReader();
    expect(await read(aPdf(['hello']), limits, never)).toEqual({ kind: 'text', text: 'hello' });
  });

  it('[F10] stops a document that takes too long, and reads the next one', async () => {
    const read = createDocumentReader({ timeoutMs: 2_000, atOnce: 1 });
    const [slow, next] = await Promise.all([
      read(slowFile(), limits, never),
      read(strToU8('next'), limits, never),
    ]);
    expect(slow).toEqual({ kind: 'refused', reason: 'reading it took longer than 2 seconds' });
    expect(next).toEqual({ kind: 'text', text: 'next' });
  });

  it('[F10] lets documents wait for each other', async () => {
    const read = createDocumentReader({ atOnce: 1 });
    const texts = ['one', 'two', 'three'];
    const results = await Promise.all(texts.map((text) => read(strToU8(text), limits, never)));
    expect(results).toEqual(texts.map((text) => ({ kind: 'text', text })));
  });

  it('[F10] ends when the turn is stopped', async () => {
    const read = createDocumentReader();
    const stop = new AbortController();
    const reading = read(slowFile(), limits, stop.signal);
    stop.abort();
    expect(await reading).toMatchObject({ kind: 'refused' });
    expect(await read(strToU8('x'), limits, stop.signal)).toMatchObject({ kind: 'refused' });
  });
});
