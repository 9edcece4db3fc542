import type { OutgoingHttpHeaders } from 'node:http';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { afterEach, describe, expect, it } from 'vitest';
import { cleanText, createPageReader, type PageReaderOptions } from './read-page.ts';
import { openWebScene, type WebScene } from './testing/web-scene.ts';

const { signal } = new AbortController();
let scene: WebScene | undefined;
afterEach(() => scene?.close());

/** Reads a page that a server sends with these headers. */
async function read(
  body: string | Buffer,
  headers: OutgoingHttpHeaders,
  options: PageReaderOptions = {},
) {
  scene = await openWebScene((_, response) => response.writeHead(200, headers).end(body));
  const reader = createPageReader({
    rules: scene.rules(),
    ...options,
    limits: { ports: [scene.port] },
  });
  return reader(scene.url('/a/b'), signal);
}
const html = (body: string, options?: PageReaderOptions) =>
  read(body, { 'content-type': 'text/html; charset=utf-8' }, options);

const SENTENCE =
  '<p>Tea is <b>very</b> good, <a href="../green" title="HIDDEN">green</a> most of all, and it is drunk hot.</p>';

describe('a page', () => {
  it('[G02] is converted to Markdown with its text, absolute links, tables and code', async () => {
    const page = await html(`<html><head><title>All
      about tea</title></head><body><nav><a href="/">Home</a></nav><article>${SENTENCE.repeat(8)}
      <table><tr><th>Kind</th><th>°C</th></tr><tr><td>Green</td><td>70</td></tr></table>
      <pre><code>a\n  b</code></pre><img src="x.png" alt="A cup"></article></body></html>`);
    expect(page.title).toBe('All about tea');
    expect(page.url).toBe(scene?.url('/a/b'));
    expect(page.text).toContain(
      `Tea is **very** good, [green](${scene?.url('/green')}) most of all`,
    );
    expect(page.text).toContain('| Kind | °C |\n| --- | --- |\n| Green | 70 |');
    expect(page.text).toContain('```\na\n  b\n```');
    expect(page.text).toContain('(picture: A cup)');
    expect(page.text).not.toContain('Home');
  });

  it('[G02] is converted as a whole if it has no main text', async () => {
    expect((await html('<p>Closed <i>today</i>.')).text).toBe('Closed *today*.');
  });

  it.each([
    ['text/markdown', '# Tea\n\n- hot'],
    ['text/plain', 'a < b\n  c'],
    ['application/json', '{"a": [1]}'],
    ['application/ld+json', '{}'],
    ['', 'no type'],
    ['text/csv', 'a,b'],
  ])('[G02] is returned unchanged if its type is "%s"', async (type, text) => {
    const headers = type === '' ? {} : { 'content-type': type };
    expect((await read(text, headers)).text).toBe(text);
  });

  it.each([
    ['application/pdf', '%PDF-1.7', 'PDF'],
    ['image/png', 'x', 'not readable text'],
    ['text/plain', 'a\0b', 'not readable text'],
    ['application/octet-stream', 'a\0b', 'not readable text'],
  ])('[G02] is refused with a reason if its type is %s', async (type, body, words) => {
    const reading = read(body, { 'content-type': type });
    await expect(reading).rejects.toMatchObject({
      code: 'web-format',
      message: expect.stringContaining(words),
    });
  });

  it('[G02] is decoded with its declared charset', async () => {
    const gbk = Buffer.from([0xc4, 0xe3, 0xba, 0xc3]);
    expect((await read(gbk, { 'content-type': 'text/plain; charset=GBK' })).text).toBe('你好');
    await scene?.close();
    const page = Buffer.concat([Buffer.from('<html><meta charset="gb2312"><p>'), gbk]);
    expect((await read(page, { 'content-type': 'text/html' })).text).toBe('你好');
  });

  it('[W10] is decoded correctly even if its charset is missing or wrong', async () => {
    const russian = 'Собрание жильцов переносится на следующую среду в семь часов вечера.';
    const page = iconv.encode(`<html><body><p>${russian}</p></body></html>`, 'win1251');
    const said = { 'content-type': 'text/html; charset=utf-8' };
    expect((await read(page, { 'content-type': 'text/html' })).text).toBe(russian);
    await scene?.close();
    expect((await read(page, said)).text).toBe(russian);
    await scene?.close();
    expect(
      await read(iconv.encode('测试', 'gb18030'), { 'content-type': 'text/plain' }),
    ).toMatchObject({ text: '测试', warning: expect.stringContaining('guessed') });
  });

  it('[M06] is refused without blocking other work if it stalls or breaks the parser', async () => {
    let beats = 0;
    const timer = setInterval(() => {
      beats += 1;
    }, 20);
    const deep = '<div>'.repeat(300_000);
    await expect(html(deep, { convertMs: 500 })).rejects.toMatchObject({ code: 'web-format' });
    clearInterval(timer);
    expect(beats).toBeGreaterThan(5);
  });
});

describe('a page’s text', () => {
  it('[P18] does not contain invisible characters', () => {
    const text =
      'a\u202eb\u200bc\u2066d\u{e0041}e\ufeff\u0007\u001b[31mf\u{e0100}g\u00adh\r\ni\u3164';
    expect(cleanText(text)).toBe('abcde[31mfgh\ni');
    expect(cleanText('👩‍🚀 ❤️ 你好 é')).toBe('👩‍🚀 ❤️ 你好 é');
  });

  it('[P18] does not change when cleaned a second time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const clean = cleanText(text);
        expect(clean.replace(/[\n\t]/g, '')).not.toMatch(
          /\p{Cc}|[\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u,
        );
        expect(cleanText(clean)).toBe(clean);
      }),
    );
  });
});
