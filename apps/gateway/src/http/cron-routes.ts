import type { CronAnswer } from '@parley/core';
import type { Hono } from 'hono';
import { z } from 'zod';
import { bodyOf, replyWith, uncachedRoutes } from './api-routes.ts';

const Fields = z.partialRecord(
  z.enum(['title', 'task', 'at', 'every', 'cron', 'timeZone', 'format']),
  z.string().optional(),
);

/** What is asked of jobs; `to` is a chat: the owner’s when it is absent in `add`, the same as before in `change`. */
const CronBody = z.union([
  z.object({
    action: z.enum(['list', 'show', 'pause', 'resume', 'remove', 'run']),
    id: z.string().max(100).default(''),
  }),
  z.object({ action: z.literal('add'), fields: Fields, to: z.string().optional() }),
  z.object({
    action: z.literal('change'),
    id: z.string().max(100),
    fields: Fields,
    to: z.string().optional(),
  }),
]);
export type CronBody = z.infer<typeof CronBody>;

/** Jobs with a timetable, for the page and the command line (H08). */
export interface CronPage {
  /** All jobs as JSON, in the order in which they were made, and the chats that one can be for. */
  list(): Promise<object>;
  /** `agent`: whose a job is that is added; undefined: the default one's. */
  ask(order: CronBody, agent?: string): Promise<CronAnswer>;
}

/** Jobs, below `/api/cron`. They show requests of people: guard it. */
export function cronRoutes(cron: CronPage): Hono {
  const app = uncachedRoutes();
  app.get('/', async (c) => c.json(await cron.list()));
  app.post('/', async (c) => {
    const order = await bodyOf(c, CronBody);
    if (order === undefined) return c.json({ error: 'There is nothing like that to do.' }, 400);
    return replyWith(c, await cron.ask(order, c.req.query('agent')));
  });
  return app;
}
