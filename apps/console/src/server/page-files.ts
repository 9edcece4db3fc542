import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Hono } from 'hono';
import { etag } from 'hono/etag';
import type { BuiltPage } from './build-page.ts';
import { keepCurrent } from './current-build.ts';

/**
 * As in `@parley/core/installation`, and declared again: in this file it is a constant for the build of
 * the bundle, which then leaves out `build-page.ts` and with it esbuild.
 */
declare const PARLEY_BUNDLE: true | undefined;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript; charset=utf-8',
  '.map': 'application/json',
};

/** The build gives every file but these a name that changes with its content. */
const KEEPS_ITS_NAME = new Set(['/', '/simulate.html', '/page/icon.svg']);

/**
 * Routes of the page and its files. They hold no secret and need no session. A bundle has the files ready; where the
 * sources run, a load of the page builds them if one has changed since the last one, so that a reload shows a change.
 * `first` is what `/` shows: the page of the gateway, or that of `parley simulate`. `open` reads the files elsewhere.
 */
export function createConsole(
  first: '/' | '/simulate.html' = '/',
  open: () => Promise<BuiltPage> = openPage(),
): Hono {
  const app = new Hono();
  let files: Promise<BuiltPage> | undefined;
  app.use(etag());
  app.get('*', async (c) => {
    const path = c.req.path === '/' ? first : c.req.path;
    if (path === first && typeof PARLEY_BUNDLE === 'undefined') files = undefined;
    files ??= open();
    const body = (await files).get(path);
    if (body === undefined) return c.text('There is nothing here. The chat is at "/".\n', 404);
    // Asked for again on every load, answered "unchanged": an update of Parley shows at once.
    const kept = KEEPS_ITS_NAME.has(path) ? 'no-cache' : 'public, max-age=31536000, immutable';
    const type = TYPES[path === '/' ? '.html' : extname(path)] ?? 'application/octet-stream';
    return c.body(Uint8Array.from(body), 200, { 'content-type': type, 'cache-control': kept });
  });
  app.onError((error, c) => {
    files = undefined;
    const remedy = 'Install what the build needs with "npm ci", or fix the source that it names.';
    return c.text(`The page could not be built. ${remedy}\n\n${error.message}\n`, 500);
  });
  return app;
}

function openPage(): () => Promise<BuiltPage> {
  // The build of the bundle leaves the import out where it is in such a condition.
  if (typeof PARLEY_BUNDLE === 'undefined') {
    return keepCurrent(async () => (await import('./build-page.ts')).buildPage());
  }
  return () => readBuiltPage(fileURLToPath(new URL('./page', import.meta.url)));
}

/**
 * Reads the page from the folder where the build of the bundle wrote the files under their paths. Only files that are
 * found now are served, whatever a path says.
 */
export async function readBuiltPage(folder: string): Promise<BuiltPage> {
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => extname(name) in TYPES);
  return new Map(
    await Promise.all(
      files.map(async (name) => {
        const path = name === 'index.html' ? '/' : `/${name.replaceAll(sep, '/')}`;
        return [path, await readFile(join(folder, name))] as const;
      }),
    ),
  );
}
