import { ParleyError } from '@parley/contracts';
import { Hono } from 'hono';

/** What the owner may decide on the page. */
export type SoulAction = 'apply' | 'veto' | 'rollback';

/** What the page shows of SOUL.md and can do about it (W06); everything it gives is JSON for the page. */
export interface SoulPage {
  /** All versions, newest first, each with what can be done about it. */
  list(): Promise<object>;
  /** Throws ParleyError, in words for people, for what cannot be done. */
  act(number: number, action: SoulAction): Promise<object>;
}

const ACTIONS: readonly SoulAction[] = ['apply', 'veto', 'rollback'];

/** SOUL.md, below `/api/soul`. Whoever has the token is an owner: guard it. */
export function soulRoutes(soul: SoulPage): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  app.get('/', async (c) => c.json(await soul.list()));
  app.post('/:number/:action', async (c) => {
    const number = Number(c.req.param('number'));
    const action = ACTIONS.find((one) => one === c.req.param('action'));
    if (action === undefined || !Number.isSafeInteger(number) || number < 0) {
      return c.json({ error: 'There is nothing like that to do.' }, 404);
    }
    try {
      return c.json(await soul.act(number, action));
    } catch (error) {
      if (error instanceof ParleyError) return c.json({ error: error.message }, 400);
      throw error;
    }
  });
  return app;
}
