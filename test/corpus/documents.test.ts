import { readdirSync, readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { createDocumentReader } from '@parley/tools/documents';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
// The function that the process of a document runs: a process for each file of a corpus would only take time.
import { extractText } from '../../packages/tools/src/documents/extract-text.ts';

const FOLDER = join(import.meta.dirname, 'documents');
const CHARACTERS = 200_000;
/** A generous limit: on a busy machine the usual one would restart a document that is fine. */
const PATIENT = { quickMs: 100_000, slowMs: 100_000 };

/** What must come out of a file; parts that are absent may be anything. */
const Expected = z.strictObject({
  /** The whole text. */
  text: z.string().optional(),
  begins: z.string().optional(),
  ends: z.string().optional(),
  contains: z.array(z.string()).default([]),
  lacks: z.array(z.string()).default([]),
  /** A part of what is said about a doubt; null: there must be none. */
  warning: z.string().nullable().optional(),
  /** A part of the reason why it is not read. */
  refused: z.string().optional(),
});

const names = readdirSync(FOLDER);
const inputs = names.filter((name) => !name.endsWith('.expected.json'));
const expectationOf = (input: string) => `${parse(input).name}.expected.json`;

describe('the corpus of documents', () => {
  it('[W10] has an expectation for each input, and no other', () => {
    expect(names.filter((name) => name.endsWith('.expected.json')).sort()).toEqual(
      inputs.map(expectationOf).sort(),
    );
  });

  it.each(inputs)('[W10] is read as it was written: %s', async (input) => {
    const json = readFileSync(join(FOLDER, expectationOf(input)), 'utf8');
    const expected = Expected.parse(JSON.parse(json));
    const bytes = Uint8Array.from(readFileSync(join(FOLDER, input)));
    const read = await extractText(bytes, { characters: CHARACTERS });
    if (expected.refused !== undefined) {
      const reason = expect.stringContaining(expected.refused);
      expect(read).toEqual({ kind: 'refused', reason });
      return;
    }
    if (read.kind === 'refused') throw new Error(`It was refused: ${read.reason}`);
    const { text, warning } = read;
    if (expected.text !== undefined) expect(text).toBe(expected.text);
    for (const part of expected.contains) expect(text).toContain(part);
    for (const part of expected.lacks) expect(text).not.toContain(part);
    expect(text.startsWith(expected.begins ?? '')).toBe(true);
    expect(text.endsWith(expected.ends ?? '')).toBe(true);
    if (typeof expected.warning === 'string') expect(warning).toContain(expected.warning);
    if (expected.warning === null) expect(warning).toBeNull();
  });

  it.each([
    'gb18030-zh-csv.csv',
    'html-declared-gbk.html',
    'mail-gb2312-base64.eml',
    'book-encodings.epub',
    'rtf-gbk.rtf',
    'calendar-zones.ics',
  ])('[G19] is read within the limits of its process: %s', async (input) => {
    const load = async () => readFileSync(join(FOLDER, input));
    const order = { sender: 'ann', characters: 1_000, load };
    const reader = createDocumentReader(PATIENT);
    const read = await reader(order, new AbortController().signal);
    expect(read.kind).toBe('text');
  });
});
