import { Hono } from 'hono';
import { type DeadDesk, DeadOrder } from '../dead-letters/dead-desk.ts';

const LARGEST_PAGE = 50;

/** Dead letters (D06), below `/api/dead`. They hold what was said in private: guard them. */
export function deadRoutes(desk: DeadDesk): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  app.get('/', async (c) => {
    const { before, limit } = c.req.query();
    const wanted = numberOf(limit) ?? LARGEST_PAGE;
    const size = Math.min(Math.max(wanted, 1), LARGEST_PAGE);
    return c.json(await desk.list({ before: numberOf(before), limit: size }));
  });
  app.get('/:id', async (c) => {
    const id = numberOf(c.req.param('id'));
    return c.json({ letter: id === undefined ? null : await desk.letter(id) });
  });
  app.post('/', async (c) => {
    const order = DeadOrder.safeParse(await c.req.json().catch(() => undefined));
    if (!order.success) return c.json({ error: 'That says not what is to be done.' }, 400);
    return c.json(await desk.settle(order.data));
  });
  return app;
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
