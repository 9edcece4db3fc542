import type { MessageName, WhyAnswer } from '@parley/contracts';
import { Hono } from 'hono';

/** What became of messages, for the page and `parley why` (D08). */
export interface WhyDesk {
  ask(message: string): Promise<WhyAnswer>;
  /** The newest messages of all chats, newest first. */
  recent(limit: number): Promise<readonly MessageName[]>;
}

/** How many messages the page offers. */
const RECENT = 50;
/** Longer than any id of a platform with the name of its chat. */
const LONGEST_NAME = 700;

/** What became of messages, below `/api/why`. It names chats and people: guard it. */
export function whyRoutes(why: WhyDesk): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  app.get('/', async (c) => {
    const message = c.req.query('message')?.trim() ?? '';
    if (message === '' || message.length > LONGEST_NAME) {
      return c.json({ error: 'Name a message: its id, channel:chat/id, a turn, or last.' }, 400);
    }
    return c.json(await why.ask(message));
  });
  app.get('/recent', async (c) => c.json({ messages: await why.recent(RECENT) }));
  return app;
}
