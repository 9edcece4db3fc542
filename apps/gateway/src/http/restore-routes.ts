import { Hono } from 'hono';
import { z } from 'zod';

/** A restored state is ready: this process ends all it does, exchanges its own for it, and starts again. */
export interface RestoreWish {
  /** Names the answer, which lies in the data folder afterwards: by then this server is gone. */
  readonly id: string;
  /** The folder in the data folder in which it is ready. */
  readonly staging: string;
}

const Body = z.object({
  id: z.uuid(),
  staging: z.string().regex(/^restoring-\w+$/),
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
