import { readdir, readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBundle } from '@parley/core/installation';
import { Hono } from 'hono';
import { etag } from 'hono/etag';

/** Routes of the page and its files. They hold no secret and need no session. */
export function createConsole(): Hono {
  const app = new Hono();
  let files: Promise<PageFiles> | undefined;
  app.use(etag());
  app.get('*', async (c) => {
    files ??= openPageFiles();
    const found = await (await files).file(c.req.path);
    if (found === null) return c.text('There is nothing here. The chat is at "/".\n', 404);
    // Asked for again on every load, answered "unchanged": an update of Parley shows at once.
    return c.body(found.body, 200, { 'content-type': found.type, 'cache-control': 'no-cache' });
  });
  return app;
}

/** One file as a browser gets it. */
interface PageFile {
  readonly type: string;
  readonly body: string;
}

/** The page's files by their paths, `/`, `/page/main.ts`, `/vendor/preact.js`. */
interface PageFiles {
  readonly paths: readonly string[];
  /** Null when there is no such file. */
  file(path: string): Promise<PageFile | null>;
}

const FOLDER = fileURLToPath(new URL(isBundle ? './page' : '../page', import.meta.url));

/** Libraries the page imports by name, and where the browser finds them. */
const VENDOR: Readonly<Record<string, string>> = {
  preact: '/vendor/preact.js',
  'preact/hooks': '/vendor/preact-hooks.js',
};

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/javascript; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};

/**
 * Opens the page's folder: TypeScript is served without its types; a bundle has all files as they
 * are served, because removing types takes much memory. Only files that are found now are served, whatever a path says; each is read once.
 */
export async function openPageFiles(): Promise<PageFiles> {
  const sources = await (isBundle ? findBuilt() : findSources());
  const ready = new Map<string, Promise<PageFile>>();
  return {
    paths: [...sources.keys()],
    async file(path) {
      const source = sources.get(path);
      if (source === undefined) return null;
      const known = ready.get(path) ?? prepare(source, [...sources.keys()]);
      ready.set(path, known);
      return known;
    },
  };
}

/** The build wrote them under their paths. */
async function findBuilt(): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(FOLDER, { recursive: true });
  const files = names.filter((name) => extname(name) in TYPES);
  return new Map(
    files.map((name) => [
      name === 'index.html' ? '/' : `/${name.replaceAll(sep, '/')}`,
      join(FOLDER, name),
    ]),
  );
}

async function findSources(): Promise<ReadonlyMap<string, string>> {
  const sources = new Map<string, string>();
  for (const name of await readdir(FOLDER, { recursive: true })) {
    if (!(extname(name) in TYPES) || name.endsWith('.test.ts')) continue;
    const path = name === 'index.html' ? '/' : `/page/${name.replaceAll(sep, '/')}`;
    sources.set(path, join(FOLDER, name));
  }
  for (const [name, path] of Object.entries(VENDOR)) {
    sources.set(path, fileURLToPath(import.meta.resolve(name)));
  }
  return sources;
}

async function prepare(source: string, paths: readonly string[]): Promise<PageFile> {
  const text = await readFile(source, 'utf8');
  const type = TYPES[extname(source)] ?? 'text/javascript; charset=utf-8';
  if (isBundle) return { type, body: text };
  if (source.endsWith('.html')) return { type, body: withPreloads(text, paths) };
  if (source.endsWith('.ts')) return { type, body: withVendorPaths(withoutTypes(text)) };
  return { type, body: source.endsWith('.mjs') ? withVendorPaths(text) : text };
}

/** Modules import one another in a chain; naming all at once saves a round trip for each link of it. */
function withPreloads(html: string, paths: readonly string[]): string {
  const scripts = paths.filter((path) => path.endsWith('.ts') || path.endsWith('.js'));
  const links = scripts.map((path) => `<link rel="modulepreload" href="${path}">`);
  return html.replace('<!-- modules -->', links.join(''));
}

/** A browser cannot resolve package names. */
function withVendorPaths(code: string): string {
  return code.replaceAll(
    /(\bfrom\s*)(["'])(preact(?:\/hooks)?)\2/g,
    (_match, from: string, quote: string, name: string) => `${from}${quote}${VENDOR[name]}${quote}`,
  );
}

/** Node calls this function experimental in a warning that an operator could do nothing about. */
function withoutTypes(code: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return stripTypeScriptTypes(code);
  } finally {
    process.emitWarning = emitWarning;
  }
}
