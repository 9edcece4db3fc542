import type { CronAnswer } from '@parley/contracts';
import { Hono } from 'hono';

/** What may be done with a job on the page. */
export type CronAction = 'pause' | 'resume' | 'remove' | 'run';

/** Jobs with a timetable, for the page (H08); everything it gives is JSON. */
export interface CronPage {
  /** All jobs, in the order in which they were made. */
  list(): Promise<object>;
  act(id: string, action: CronAction): Promise<CronAnswer>;
}

const ACTIONS: readonly CronAction[] = ['pause', 'resume', 'remove', 'run'];

/** Jobs, below `/api/cron`. They tell what people asked for: guard it. */
export function cronRoutes(cron: CronPage): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  app.get('/', async (c) => c.json(await cron.list()));
  app.post('/:id/:action', async (c) => {
    const action = ACTIONS.find((one) => one === c.req.param('action'));
    if (action === undefined) return c.json({ error: 'There is nothing like that to do.' }, 404);
    const { ok, words } = await cron.act(c.req.param('id'), action);
    return ok ? c.json({ words }) : c.json({ error: words }, 400);
  });
  return app;
}
