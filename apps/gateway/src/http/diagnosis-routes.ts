import type { Hono } from 'hono';
import { z } from 'zod';
import { type AppEnv, mayAs } from './access.ts';
import type { LogQuery, LogReport } from './api.ts';
import type { ApiServices } from './api-routes.ts';
import { withoutNames } from './roles.ts';

const MOST_LINES = 500;
const NOT_KEPT = { 'cache-control': 'no-store' };

const given = (most: number) => z.string().trim().min(1).max(most).optional();

/** What is asked of the log; the command line uses the same names. */
const Query = z.strictObject({
  level: z.enum(['debug', 'info', 'warn', 'error']).default('debug'),
  channel: given(100),
  conversation: given(700),
  text: given(200),
  before: z.coerce.number().int().positive().optional(),
  limit: z.coerce.number().int().min(1).max(MOST_LINES).default(200),
});

/** The kept log of the processes that can be reached from here. */
export interface LogPage {
  read(query: LogQuery): Promise<LogReport>;
}

/** Audit, log, and the bundle for a bug report. The log names chats and people: guard it. */
export function addDiagnosisRoutes(
  app: Hono<AppEnv>,
  { audit, logs, bugReport }: Pick<ApiServices, 'audit' | 'logs' | 'bugReport'>,
): void {
  if (audit !== undefined) {
    app.get('/api/audit', async (c) => {
      const report = await audit();
      return c.json(mayAs(c, 'owner') ? report : withoutNames(report), 200, NOT_KEPT);
    });
  }
  if (logs !== undefined) {
    app.get('/api/logs', async (c) => {
      const query = Query.safeParse(c.req.query());
      if (!query.success) return c.json({ error: 'The log is not asked for like that.' }, 400);
      return c.json(await (await logs()).read(query.data), 200, NOT_KEPT);
    });
  }
  if (bugReport !== undefined)
    app.get('/api/report', async (c) => c.json(await bugReport(), 200, NOT_KEPT));
}
