import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { PLACES } from '../page/views.ts';
import { type BuiltPage, buildPage } from './build-page.ts';
import { createConsoleRoutes } from './page-files.ts';

const page = createConsoleRoutes();
let built: BuiltPage;
let html = '';
/** The files to which the HTML refers; a browser loads them before it shows the chat. */
let named: string[] = [];
beforeAll(async () => {
  built = (await buildPage()).page;
  html = await (await page.request('/')).text();
  named = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path ?? '');
});
const textOf = async (path: string) => (await page.request(path)).text();

/**
 * The size limit of the chat for slow connections, in bytes after gzip, which is how it is served.
 */
const FIRST_LOAD = 150_000;

describe("the page's files", () => {
  it('[U03] serves the files from the given reader, if there is one', async () => {
    const there = new Map([['/', new TextEncoder().encode('read elsewhere')]]);
    const other = createConsoleRoutes('/', async () => there);
    expect(await (await other.request('/')).text()).toBe('read elsewhere');
    expect((await other.request(named[0] ?? '')).status).toBe(404);
  });

  it('[U03] does not serve inline scripts or styles, or addresses of other sites', () => {
    expect(html).not.toMatch(/<script(?![^>]*\ssrc="\/)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|https?:/);
  });

  it('[U03] serves everything that the HTML references and everything that these files import', async () => {
    expect(named.length).toBeGreaterThan(3);
    for (const path of named)
      expect([path, (await page.request(path)).status]).toEqual([path, 200]);
    for (const path of [...built.keys()].filter((path) => path.endsWith('.js'))) {
      const imports = (await textOf(path)).matchAll(/\b(?:from|import)\s*\(?"([^",\s]+)"/g);
      for (const [, from = ''] of imports) {
        const target = new URL(from, `http://page${path}`).pathname;
        expect([from, built.has(target)]).toEqual([from, true]);
      }
    }
  });

  it('[U03] loads the chat with at most 150 kB, all of it referenced in the HTML', async () => {
    const sizes = await Promise.all(
      ['/', ...named].map(async (path) => gzipSync(await textOf(path)).length),
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(FIRST_LOAD);
    const imported = new Set<string>();
    for (const path of named.filter((path) => path.endsWith('.js'))) {
      for (const [, from = ''] of (await textOf(path)).matchAll(/\bfrom\s*"\.\/([^"]+)"/g))
        imported.add(`/page/${from}`);
    }
    expect([...imported].filter((path) => !named.includes(path))).toEqual([]);
  });

  it('[U03] serves a separate file for each view except the chat', async () => {
    const loads = PLACES.flatMap(({ views }) => views.map(({ load }) => String(load)));
    const files = new Set(loads.map((load) => /([\w-]+)\.tsx/.exec(load)?.[1]));
    expect(files.size).toBeGreaterThan(6);
    for (const file of files) {
      const own = [...built.keys()].filter((path) => path.match(`^/page/${file}-\\w+\\.js$`));
      expect([file, own.length, named.includes(own[0] ?? '')]).toEqual([file, 1, false]);
    }
  });

  it('[U03] keeps the formula library in a file of at most 65 kB that is not part of the first load', async () => {
    const [path = '', ...others] = [...built.keys()].filter((one) =>
      one.match('^/page/maths-.*\\.js$'),
    );
    expect([others, named.includes(path)]).toEqual([[], false]);
    expect(gzipSync(await textOf(path)).length).toBeLessThanOrEqual(65_000);
  });

  it.each(['/page/index.html', '/page/main.tsx', '/page/%2e%2e/index.ts', '/x'])(
    'answers 404 at %s',
    async (path) => {
      expect((await page.request(path)).status).toBe(404);
    },
  );

  it('lets browsers cache the files permanently, because changed content gets a new name', async () => {
    const script = named.find((path) => path.includes('main-')) ?? '';
    const served = await page.request(script, { headers: { 'accept-encoding': 'gzip, br' } });
    // The gateway compresses a file after it has scanned the file for secrets.
    expect(served.headers.get('content-encoding')).toBeNull();
    expect(served.headers.get('cache-control')).toContain('immutable');
  });

  it('answers with status 304 if the browser already has the file', async () => {
    const first = await page.request('/', { headers: { 'accept-encoding': 'gzip' } });
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const again = { headers: { 'if-none-match': first.headers.get('etag') ?? '' } };
    expect((await page.request('/', again)).status).toBe(304);
  });
});
