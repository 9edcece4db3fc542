import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Hono } from 'hono';
import { etag } from 'hono/etag';
import type { BuiltPage } from './build-page.ts';
import { createPageRebuilder } from './current-build.ts';

/**
 * The same constant is declared in `@parley/core/installation`. It is repeated here so that the
 * bundler omits `build-page.ts`, and with it esbuild.
 */
declare const PARLEY_BUNDLE: true | undefined;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.js': 'text/javascript; charset=utf-8',
  '.map': 'application/json',
};

/** All files except the HTML are named after their content. */
const KEEPS_ITS_NAME = new Set(['/', '/simulate.html', '/page/icon.svg']);

/**
 * Routes for the page and its files. The files do not contain secrets and can be loaded without a
 * session. A bundle contains the built files. When Parley runs from its sources, loading the page
 * rebuilds it if a source has changed, so that a reload shows the change. `first` is the page at
 * `/`: either the gateway's page or the page for `parley simulate`. `open` reads the files from
 * another source.
 */
export function createConsoleRoutes(
  first: '/' | '/simulate.html' = '/',
  open: () => Promise<BuiltPage> = createPageLoader(),
): Hono {
  const app = new Hono();
  let files: Promise<BuiltPage> | undefined;
  app.use(etag());
  app.get('*', async (c) => {
    const path = c.req.path === '/' ? first : c.req.path;
    if (path === first && typeof PARLEY_BUNDLE === 'undefined') files = undefined;
    files ??= open();
    const body = (await files).get(path);
    if (body === undefined) return c.text('There is no such page. The chat is at "/".\n', 404);
    // The HTML is revalidated on every load, so that an update of Parley appears immediately.
    // Usually, the answer is "unchanged".
    const kept = KEEPS_ITS_NAME.has(path) ? 'no-cache' : 'public, max-age=31536000, immutable';
    const type = TYPES[path === '/' ? '.html' : extname(path)] ?? 'application/octet-stream';
    return c.body(Uint8Array.from(body), 200, { 'content-type': type, 'cache-control': kept });
  });
  app.onError((error, c) => {
    files = undefined;
    const remedy = 'Install the build tools with "npm ci", or fix the source file named below.';
    return c.text(`The page could not be built. ${remedy}\n\n${error.message}\n`, 500);
  });
  return app;
}

function createPageLoader(): () => Promise<BuiltPage> {
  // The bundler removes the import only inside such a condition.
  if (typeof PARLEY_BUNDLE === 'undefined') {
    return createPageRebuilder(async () => (await import('./build-page.ts')).buildPage());
  }
  return () => readBuiltPage(fileURLToPath(new URL('./page', import.meta.url)));
}

/**
 * Reads the page from the folder in which the bundle's build wrote its files. Only files that exist
 * at this point are served, regardless of what a request asks for.
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
