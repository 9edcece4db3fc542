import { describe, expect, it } from 'vitest';
import { createConsole } from './page-files.ts';

const page = createConsole();

describe('the files of the page', () => {
  it('[U03] has no script, style or address in the page that is not a file of its own', async () => {
    const html = await (await page.request('/')).text();
    expect(html).not.toMatch(/<script(?![^>]*\ssrc="\/)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|https?:/);
  });

  it('[U03] every file the page names is there', async () => {
    const html = await (await page.request('/')).text();
    const named = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(named.length).toBeGreaterThan(10);
    for (const path of named)
      expect([path, (await page.request(path)).status]).toEqual([path, 200]);
  });

  it('takes the types out and leaves lines where they were, so that errors point to the source', async () => {
    const response = await page.request('/page/chat/composer-keys.ts');
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    const code = await response.text();
    expect(code).not.toContain('readonly CommandHint');
    expect(code).toContain('export function matchCommands(');
  });

  it('[U03] finds every import at the gateway itself', async () => {
    const html = await (await page.request('/')).text();
    const modules = [...html.matchAll(/modulepreload" href="([^"]+)"/g)];
    expect(modules.length).toBeGreaterThan(20);
    for (const [, path = ''] of modules) {
      const code = await (await page.request(path)).text();
      const imports = [...code.matchAll(/\bfrom\s*["']([^"']+)["']/g)].map(
        ([, from]) => from ?? '',
      );
      for (const from of imports) {
        const target = new URL(from, `http://page${path}`).pathname;
        expect([from, (await page.request(target)).status]).toEqual([from, 200]);
      }
    }
  });

  it.each(['/page/index.html', '/page/chat/conversation.test.ts', '/page/%2e%2e/index.ts', '/x'])(
    'has nothing at %s',
    async (path) => {
      expect((await page.request(path)).status).toBe(404);
    },
  );

  it('answers "unchanged" to a browser that has the file', async () => {
    const first = await page.request('/page/main.ts');
    const again = { headers: { 'if-none-match': first.headers.get('etag') ?? '' } };
    expect((await page.request('/page/main.ts', again)).status).toBe(304);
  });
});
