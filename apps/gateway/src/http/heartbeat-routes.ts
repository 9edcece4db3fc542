import { Hono } from 'hono';
import { z } from 'zod';

/** What the routes ask of the heartbeat; everything it gives is JSON. */
export interface ShownHeartbeat {
  report(): Promise<object>;
  /** Runs a task at once: the named one, or the one that is due. Asked twice with one id it runs once. */
  now(id: string, task?: string): Promise<object>;
}

/** `id` is the asker's own, so that a request that is sent again runs nothing twice. */
const Wish = z.object({ id: z.string().min(1).max(100), task: z.string().max(200).optional() });

/** How the heartbeat does, below `/api/heartbeat`. It tells of private tasks: guard it. */
export function heartbeatRoutes(heartbeat: ShownHeartbeat): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  app.get('/', async (c) => c.json(await heartbeat.report()));
  app.post('/now', async (c) => {
    const wish = Wish.safeParse(await c.req.json().catch(() => undefined));
    if (!wish.success)
      return c.json({ error: 'That needs an id, and a task if one is meant.' }, 400);
    return c.json(await heartbeat.now(wish.data.id, wish.data.task));
  });
  return app;
}
