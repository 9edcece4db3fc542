import type { Clock } from '@parley/core';
import type { Store, UsageGrouping } from '@parley/store';
import type { Hono } from 'hono';
import { z } from 'zod';
import { type AppEnv, mayAs, refuseRole } from './access.ts';
import type { UsageCap, UsageReport } from './api.ts';
import { uncachedRoutes } from './api-routes.ts';

/** What of the settings usage is shown with. */
export interface UsageFacts {
  /** The id of the agent. */
  readonly agent: string;
  /** That of the agent, in which caps count days. */
  readonly timeZone: string;
  /** The day there at a moment (ms), such as `2026-11-21`. */
  readonly dayAt: (now: number) => string;
  readonly caps: readonly Omit<UsageCap, 'used'>[];
}

/** As long as `spend` is kept by default. */
const MOST_DAYS = 400;

const GROUPINGS = [
  'day',
  'person',
  'chat',
  'model',
  'channel',
  'agent',
] as const satisfies readonly UsageGrouping[];

/** Their lines are those of one person or chat each. */
const NAMING: ReadonlySet<UsageGrouping> = new Set(['person', 'chat']);

const Query = z.strictObject({
  by: z.enum(GROUPINGS).default('day'),
  days: z.coerce.number().int().min(1).max(MOST_DAYS).default(30),
  until: z.iso.date().optional(),
});

const EXPECTED = `Ask for by (${GROUPINGS.join(', ')}), days (1 to ${MOST_DAYS}) and until (a date such as 2026-11-21).`;

/** What was used of models, by whom and how fast (U07), below `/api/usage`. Owners alone see people and chats. */
export function usageRoutes(
  { usage, spend }: Pick<Store, 'usage' | 'spend'>,
  { agent, timeZone, dayAt, caps }: UsageFacts,
  clock: Clock,
): Hono<AppEnv> {
  const app = uncachedRoutes<AppEnv>();
  app.get('/', async (c) => {
    const query = Query.safeParse(c.req.query());
    if (!query.success) return c.json({ error: EXPECTED }, 400);
    const { by, days, until } = query.data;
    if (NAMING.has(by) && !mayAs(c, 'owner')) return refuseRole(c, 'owner');
    const today = dayAt(clock());
    const [sums, spent, highest] = await Promise.all([
      usage.sums({ by, days, lastDay: until ?? today, timeZone, agent }),
      spend.day(today),
      usage.highest(today),
    ]);
    const { tokens, costUsd } = spent;
    const used = {
      totalDaily: { tokens, costUsd },
      perPersonDaily: highest.person,
      perGroupDaily: highest.group,
      perStrangerDaily: null,
    };
    const report: UsageReport = {
      ...{ by, until: until ?? today, timeZone },
      groupings: GROUPINGS.filter((one) => !NAMING.has(one) || mayAs(c, 'owner')),
      ...sums,
      today: { day: today, ...used.totalDaily },
      caps: caps.map((cap) => ({ ...cap, used: used[cap.name] })),
    };
    return c.json(report);
  });
  return app;
}
