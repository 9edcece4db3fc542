import { strToU8 } from 'fflate';
import { describe, expect, it } from 'vitest';
import { DAMAGED, ENCRYPTED } from './document-text.ts';
import { extractText } from './extract-text.ts';
import {
  createDocx,
  createOdt,
  createPdf,
  createPptx,
  createXlsx,
  createZip,
  LOCKED,
} from './testing/sample-files.ts';

const read = (bytes: Uint8Array, characters = 1_000) => extractText(bytes, { characters });
const bytes = (...values: number[]) => Uint8Array.from(values);
const compound = bytes(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1);
const TABLE =
  '<table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row>';

describe('the text of a document', () => {
  it.each([
    ['plain text', strToU8('one\r\ntwo\n'), 'one\ntwo'],
    ['a CSV file', strToU8('a;b\n1;2'), 'a;b\n1;2'],
    ['an HTML page', strToU8('<p>hi <b>you</b></p>'), 'hi **you**'],
    [
      'RTF',
      strToU8("{\\rtf1\\ansi\\ansicpg1252{\\fonttbl\\f0 Arial;}Gr\\'fc\\'dfe\\par \\u8364?}"),
      'Grüße\n€',
    ],
    ['UTF-8 with its mark', strToU8('\ufeffGrüße'), 'Grüße'],
    ['UTF-16', bytes(0xff, 0xfe, 0x48, 0, 0x69, 0), 'Hi'],
    ['the Windows code page', bytes(0x47, 0x72, 0xfc, 0xdf, 0x65), 'Grüße'],
    ['a PDF, page by page', createPdf(['first page', 'second page']), 'first page\n\nsecond page'],
    ['a Word document', createDocx(['one &amp; two', 'three']), 'one & two\nthree'],
    [
      'a workbook',
      createXlsx([
        ['item', 'price'],
        ['tea', 2.5],
      ]),
      '# Sales\nitem\tprice\ntea\t2.5',
    ],
    [
      'a slide show, in the order of its slides',
      createPptx(['1', '2', '3', '4', '5', '6', '7', '8', '9', 'a &lt;b&gt; &#x41;&#66;']),
      /# Slide 1\n1\n\n# Slide 2\n2\n.*# Slide 10\na <b> AB$/s,
    ],
    [
      'an OpenDocument text',
      createOdt(
        '<text:h>Head</text:h><text:p>a<text:s/>b<text:tab/>c<text:line-break/>d</text:p>no',
      ),
      'Head\na b\tc\nd',
    ],
    ['the rows of an OpenDocument table', createOdt(TABLE), /^a \tb$/],
  ])('[F10] is extracted from %s', async (_case, file, text) => {
    expect(await read(file)).toMatchObject({
      kind: 'text',
      text: typeof text === 'string' ? text : expect.stringMatching(text),
      next: null,
    });
  });

  it.each([
    ['a program', bytes(0x7f, 0x45, 0x4c, 0x46, 0, 1, 2), /not in a format that I can read: PDF/],
    ['an old Office file', compound, /old Office format/],
    ['an archive', createZip({ 'a.xml': 'x' }), /archive/],
    ['an empty file', bytes(), /no text/],
    ['a scan', createPdf(['']), /a scan/],
    ['a damaged PDF', strToU8('%PDF-1.7 and nothing more'), DAMAGED],
    ['half an archive', createDocx(['text']).subarray(0, 200), DAMAGED],
    ['a broken Word document', createZip({ 'word/document.xml': '<w:p>' }), DAMAGED],
    ['an Office file without its contents', createZip({ '[Content_Types].xml': '' }), DAMAGED],
    [
      'an OpenDocument without its contents',
      createZip({ mimetype: 'application/vnd.oasis.opendocument.text' }),
      DAMAGED,
    ],
    ['a PDF with a password', createPdf(['secret'], LOCKED), ENCRYPTED],
    [
      'an Office file with a password',
      Buffer.concat([compound, Buffer.from('EncryptedPackage', 'utf16le')]),
      ENCRYPTED,
    ],
    ['an OpenDocument with a password', createOdt('x', '<m:encryption-data/>'), ENCRYPTED],
  ])('[F10] is refused with a polite reason for %s', async (_case, file, reason) => {
    expect(await read(file)).toEqual({
      kind: 'refused',
      reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
    });
  });

  it.each([
    ['its first part', 0, { text: 'abcdefghij', next: 10, length: 15, pagesLeft: 0 }],
    ['no half of a character', 3, { text: 'defghijkl', next: 12 }],
    ['its last part', 12, { text: '🙂m', next: null, length: 15 }],
    ['nothing behind its end', 99, { text: '', next: null, length: 15 }],
  ])('[F10] is returned in parts: %s', async (_what, from, part) => {
    const file = strToU8('abcdefghijkl🙂m');
    expect(await extractText(file, { from, characters: 10 })).toMatchObject(part);
  });

  it('[W10] is read from a long file in the same parts as from a short file', async () => {
    const line = 'Ошибка 🙂 при чтении файла: ещё одна попытка\r\n';
    const long = Buffer.from(line.repeat(50_000));
    const plain = line.repeat(50_000).replaceAll('\r\n', '\n');
    for (const from of [0, 262_130, 999_999, plain.length - 20]) {
      const part = await extractText(long, { from, characters: 333 });
      if (part.kind === 'refused') throw new Error(part.reason);
      expect(part).toMatchObject({ length: plain.length, warning: null });
      const end = part.next ?? plain.length;
      expect(part.text).toBe(plain.slice(from, end).toWellFormed());
      expect(end - from).toBeGreaterThanOrEqual(Math.min(332, plain.length - from));
    }
  });

  it('[F10] is extracted from a PDF only as far as requested, with the number of remaining pages', async () => {
    // The library detaches the byte array.
    const file = () => createPdf(['one', 'two', 'three', 'four']);
    const parts = [0, 5, 10, 15].map((from) => extractText(file(), { from, characters: 5 }));
    expect(await Promise.all(parts)).toMatchObject([
      { text: 'one\n\n', next: 5, pagesLeft: 2 },
      { text: 'two\n\n', next: 10, pagesLeft: 1 },
      { text: 'three', next: 15, pagesLeft: 0 },
      { text: '\n\nfou', next: 20, length: 21, pagesLeft: 0 },
    ]);
  });

  it('[F10] excludes deleted text, tab stops and duplicated text boxes in a Word document', async () => {
    const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
    const body = `<x:p><x:pPr><x:tabs><x:tab/></x:tabs></x:pPr><x:r><x:t xml:space="preserve">a </x:t><x:tab/><x:t>b</x:t></x:r><x:moveFrom><x:t>no</x:t></x:moveFrom><mc:Choice><x:t>box</x:t></mc:Choice><mc:Fallback><x:t>box</x:t></mc:Fallback></x:p><x:p><x:t><![CDATA[<c>]]></x:t></x:p>`;
    const main = `<?xml version="1.0"?><x:document xmlns:x="${word}"><x:body>${body}</x:body></x:document>`;
    const text = 'a \tbbox\n<c>';
    expect(await read(createZip({ 'word/document2.xml': main }))).toMatchObject({
      kind: 'text',
      text,
    });
  });
});
