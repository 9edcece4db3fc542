import { isDueToday, isFullRun } from '@parley/core/testing';
import { strToU8 } from 'fflate';
import { describe, expect, it } from 'vitest';
import { createDocumentReader, type DocumentReaderOptions } from './document-reader.ts';
import type { DocumentText } from './document-text.ts';
import type { ProcessOutcome } from './read-in-process.ts';
import {
  createCrowdedZip,
  createDocx,
  createPdf,
  createPdfBomb,
  createXlsxBomb,
  createZipBomb,
} from './testing/sample-files.ts';

const never = new AbortController().signal;
const TOO_MUCH = 'it takes more than 150 MB of memory when it is unpacked';
const WORD =
  '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:t>';

const BOOK = { 'META-INF/container.xml': '<container/>', 'book.opf': '<package/>' };

/**
 * Generous limits, because on a busy machine the default limits would restart or refuse a valid
 * document.
 */
const PATIENT = { quickMs: 100_000, slowMs: 100_000 };

/** Opens a reader and records how each of its processes ended. */
function openReader(options: DocumentReaderOptions = {}) {
  const processes: ProcessOutcome<DocumentText>[] = [];
  const onProcess = (one: ProcessOutcome<DocumentText>) => processes.push(one);
  const read = createDocumentReader({ ...PATIENT, ...options, onProcess });
  return {
    processes,
    read: (sender: string, bytes: Uint8Array, signal = never) =>
      read({ sender, characters: 100, load: async () => bytes }, signal),
  };
}

describe('the document reader', () => {
  it('[F10] reads each document in a separate process', async () => {
    const { read, processes } = openReader();
    expect(await read('ada', createPdf(['hello']))).toMatchObject({ kind: 'text', text: 'hello' });
    expect(processes).toMatchObject([{ kind: 'read', peakBytes: expect.any(Number) }]);
  });

  it('[G19] limits the memory of that process, without counting Parley’s own', async () => {
    const large = Buffer.alloc(300_000_000, 1);
    const { read, processes } = openReader();
    expect(await read('ada', createPdf(['hello']))).toMatchObject({ kind: 'text', text: 'hello' });
    expect(processes[0]?.peakBytes).toBeLessThan(large.length / 2);
  });

  const bombs: [string, () => Uint8Array, string | RegExp][] = [
    ['a PDF whose page unpacks to 900 MB', () => createPdfBomb(900), TOO_MUCH],
    [
      'a docx that unpacks to 900 MB',
      () => createZipBomb({ name: 'word/document.xml', unit: '<w:r/>', megabytes: 900 }),
      'it unpacks to more than 32 MB',
    ],
    [
      'a docx that unpacks to more than it says',
      () =>
        createZipBomb({
          name: 'word/document.xml',
          unit: '<w:r/>',
          megabytes: 900,
          claimed: 1_000,
        }),
      /damaged/,
    ],
    [
      'a docx of nothing but text',
      () =>
        createZipBomb({
          name: 'word/document.xml',
          start: WORD,
          unit: 'é</w:t><w:t>',
          megabytes: 31,
        }),
      TOO_MUCH,
    ],
    ['an xlsx of a million short rows', createXlsxBomb, TOO_MUCH],
    [
      'a book with a chapter of 900 MB',
      () => createZipBomb({ name: 'a.xhtml', unit: '<p>x</p>', megabytes: 900 }, BOOK),
      'it unpacks to more than 32 MB',
    ],
    [
      'a pptx of nothing but text',
      () =>
        createZipBomb(
          { name: 'ppt/slides/slide1.xml', unit: '<a:t>a</a:t>', megabytes: 31 },
          { 'ppt/presentation.xml': '' },
        ),
      TOO_MUCH,
    ],
    [
      'an odt of nothing but text',
      () =>
        createZipBomb(
          { name: 'content.xml', unit: '<text:p>&amp;</text:p>', megabytes: 31 },
          { mimetype: 'application/vnd.oasis.opendocument.text' },
        ),
      TOO_MUCH,
    ],
    [
      'an archive of very many parts',
      () => createCrowdedZip(10_001),
      'it has more than 10000 parts',
    ],
  ];
  // A test run for a change executes only a third of these cases, because each takes a second of
  // CPU time.
  it.each(bombs.filter((_, nth) => isDueToday(nth, 3)))(
    '[G19] refuses %s while all processes together use less than 200 MB',
    async (_what, make, reason) => {
      const bomb = make();
      const before = process.memoryUsage.rss();
      const { read, processes } = openReader();
      expect(await read('eve', bomb)).toEqual({
        kind: 'refused',
        reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
      });
      const grown = process.memoryUsage.rss() - before;
      const taken = Math.max(...processes.map(({ peakBytes }) => peakBytes));
      expect(taken).toBeGreaterThan(40_000_000);
      expect(grown + taken).toBeLessThan(200_000_000);
    },
  );

  it('[G19] reads one person’s file before the second bombs of other senders', async () => {
    const read = createDocumentReader(PATIENT);
    const order: string[] = [];
    const send = async (sender: string, what: string, bytes: Uint8Array) => {
      const load = async () => {
        order.push(`${what} is fetched`);
        return bytes;
      };
      const result = await read({ sender, characters: 100, load }, never);
      order.push(what);
      return result;
    };
    const bomb = createPdfBomb(200);
    const strangers = Array.from({ length: isFullRun() ? 6 : 3 }, (_, at) => `eve ${at}`);
    const bombs = strangers.flatMap((one) => [
      send(one, 'a first', bomb),
      send(one, 'second', bomb),
    ]);
    const honest = send('ada', 'honest', createDocx(['hello']));
    expect(await honest).toMatchObject({ kind: 'text', text: 'hello' });
    const results = await Promise.all(bombs);
    expect(order.slice(0, order.indexOf('honest is fetched'))).not.toContain('second');
    expect(order).not.toContain('second is fetched');
    expect(results.filter((_, at) => at % 2 === 0)).toEqual(
      strangers.map(() => ({ kind: 'refused', reason: TOO_MUCH })),
    );
    expect(results[1]).toMatchObject({ reason: expect.stringContaining('send it again then') });
  });

  it('[G19] pauses the sender of a bomb, longer each time, but no other sender', async () => {
    let now = 0;
    const { read, processes } = openReader({ memoryBytes: 50_000_000, monotonic: () => now });
    const tries = async () => (await read('eve', createPdf(['hello']))).kind === 'refused';
    expect(await tries()).toBe(true);
    const resting = await read('eve', strToU8('text'));
    expect(resting).toMatchObject({
      reason: expect.stringMatching(/in 10 seconds; send it again/),
    });
    expect(processes).toHaveLength(1);
    now = 10_000;
    await tries();
    expect(processes).toHaveLength(2);
    now = 29_999;
    await tries();
    expect(processes).toHaveLength(2);
    now = 30_000;
    await tries();
    expect(processes).toHaveLength(3);
    await read('ada', strToU8('text'));
    expect(processes).toHaveLength(4);
  });

  it('[G19] restarts a document that exceeds the limits of the first attempt', async () => {
    const { read, processes } = openReader({ quickMs: 1 });
    expect(await read('ada', strToU8('long'))).toMatchObject({ kind: 'text', text: 'long' });
    expect(processes).toMatchObject([{ kind: 'failed', why: 'time' }, { kind: 'read' }]);
  });

  it('[F10] refuses a document that takes too long', async () => {
    const { read } = openReader({ quickMs: 1, slowMs: 2 });
    expect(await read('ada', strToU8('x'))).toEqual({
      kind: 'refused',
      reason: 'reading it took longer than 0.002 seconds',
    });
  });

  it('[F10] aborts when the turn is stopped, without pausing the sender', async () => {
    const { read } = openReader();
    const stop = new AbortController();
    const reading = read('ada', createPdf(['hello']), stop.signal);
    stop.abort();
    expect(await reading).toMatchObject({ kind: 'refused', reason: 'reading it was stopped' });
    expect(await read('ada', strToU8('x'))).toMatchObject({ kind: 'text', text: 'x' });
  });

  it('[G19] does not fetch a document before its position in the queue is reached', async () => {
    const read = createDocumentReader({ ...PATIENT, atOnce: 1 });
    const order: string[] = [];
    const send = async (name: string) => {
      const load = async () => {
        order.push(`${name} is fetched`);
        return strToU8(name);
      };
      await read({ sender: name, characters: 9, load }, never);
      order.push(`${name} is read`);
    };
    await Promise.all([send('one'), send('two')]);
    expect(order).toEqual(['one is fetched', 'one is read', 'two is fetched', 'two is read']);
  });
});
