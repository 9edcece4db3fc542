import { Hono } from 'hono';
import { etag } from 'hono/etag';
import { openPageFiles, type PageFiles } from './page-files.ts';

/** Routes of the page and its files; they hold no secret, and anybody may have them. */
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
