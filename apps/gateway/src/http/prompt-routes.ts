import { ParleyError } from '@parley/contracts';
import { type Context, Hono } from 'hono';

/** Which recorded prompts to list. `before` is what an earlier page gave as `next`. */
export interface PromptQuery {
  readonly chat?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}

/** What the routes ask; everything it gives is JSON for the page. Null: there is no such turn. */
export interface PromptInspector {
  /** Newest first, with `next` for the page after it. */
  list(query: PromptQuery): Promise<object>;
  prompt(turnId: string): Promise<object | null>;
  compare(before: string, after: string): Promise<object | null>;
  /** The prompt of a turn that might be. Throws ParleyError, in words for people, for what cannot be. */
  preview(asked: Readonly<Record<string, string>>): Promise<object>;
}

const LARGEST_PAGE = 100;
const USUAL_PAGE = 30;

/** The prompts of past turns (P17), below `/api/prompts`. They hold private text: guard them. */
export function promptRoutes(inspector: PromptInspector): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  app.get('/', async (c) => {
    const { chat, before, limit } = c.req.query();
    return c.json(await inspector.list({ chat, before, limit: pageSize(limit) }));
  });
  app.get('/preview', async (c) => {
    try {
      return c.json(await inspector.preview(c.req.query()));
    } catch (error) {
      if (error instanceof ParleyError) return c.json({ error: error.message }, 400);
      throw error;
    }
  });
  app.get('/:turn', async (c) => answer(c, await inspector.prompt(c.req.param('turn'))));
  app.get('/:before/compare/:after', async (c) => {
    const { before, after } = c.req.param();
    return answer(c, await inspector.compare(before, after));
  });
  return app;
}

function pageSize(given: string | undefined): number {
  const size = Number(given ?? USUAL_PAGE);
  return Number.isInteger(size) && size > 0 ? Math.min(size, LARGEST_PAGE) : USUAL_PAGE;
}

function answer(c: Context, found: object | null): Response {
  if (found !== null) return c.json(found);
  const error = 'No prompt of that turn is kept. It may be older than inspector.keepDays allows.';
  return c.json({ error }, 404);
}
