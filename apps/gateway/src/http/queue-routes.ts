import { Hono } from 'hono';

/** What waits, runs and is still to be sent (U03), below `/api/queue`. It names chats: guard it. */
export function queueRoutes(look: () => Promise<object>): Hono {
  const app = new Hono();
  app.get('/', async (c) => {
    c.header('cache-control', 'no-store');
    return c.json(await look());
  });
  return app;
}
