import { Hono } from 'hono';
import { z } from 'zod';

/** A backup that this process is to put back: it ends all it does, restores, and starts again. */
export interface RestoreWish {
  /** Names the answer, which lies in the data folder afterwards: by then this server is gone. */
  readonly id: string;
  /** A path on this machine. */
  readonly file: string;
  readonly unfinished: 'hold' | 'go-on';
  readonly withSettings: boolean;
}

const Body = z.object({
  id: z.uuid(),
  file: z.string().startsWith('/'),
  unfinished: z.enum(['hold', 'go-on']),
  withSettings: z.boolean(),
});

/** Restoring, at `/api/restore`. It replaces everything: guard it. */
export function restoreRoutes(ask: (wish: RestoreWish) => void): Hono {
  const app = new Hono();
  app.post('/', async (c) => {
    const body = Body.safeParse(await c.req.json().catch(() => undefined));
    if (!body.success) return c.json({ error: 'This is no wish to restore.' }, 400);
    ask(body.data);
    return c.json({ words: 'It begins.' }, 202);
  });
  return app;
}
