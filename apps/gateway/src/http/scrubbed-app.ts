import { type Logger, reasonOf } from '@parley/core';
import type { Secrets } from '@parley/core/telemetry';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import type { AppEnv } from './access.ts';
import { scrubResponse } from './scrub-response.ts';

/** The handler of all requests. */
export interface HttpRoutes {
  fetch(request: Request, env: AppEnv['Bindings']): Response | Promise<Response>;
}

/** The path of the page's files other than `/`. */
export const PAGE_PATH = '/page/*';

/**
 * Wraps all routes so that secrets are removed from their responses (G18). Compression comes last,
 * and only for the page. If a response contains both private text and text from others, its
 * compressed size would reveal something about the private text.
 */
export function createScrubbedApp(
  app: HttpRoutes,
  secrets: Pick<Secrets, 'scrub' | 'stream'>,
  log: Logger,
): Hono<AppEnv> {
  const outer = new Hono<AppEnv>();
  for (const path of ['/', PAGE_PATH]) outer.use(path, compress({ encoding: 'gzip' }));
  outer.all('*', async (c) => scrubResponse(await app.fetch(c.req.raw, c.env), secrets));
  outer.onError((error, c) => {
    log.error({ reason: reasonOf(error), path: c.req.path }, 'web request failed');
    return c.text("Something went wrong. See the gateway's log for details.\n", 500);
  });
  return outer;
}
