import { ParleyError } from '@parley/core';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { SetupAnswer, SetupState } from './api.ts';
import { bodyOf, uncachedRoutes } from './json-routes.ts';

const Word = z.string().trim().min(1).max(4_000);

const ModelOrder = z.strictObject({
  provider: z.enum(['openai-compatible', 'openai', 'anthropic']),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  apiKey: Word.optional(),
  /** Absent: which models there are is asked. */
  model: Word.optional(),
});

/** One step of the guided setup. `try` asks the server or the platform, and writes nothing. */
export const SetupOrder = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('model'), isTry: z.boolean(), model: ModelOrder }),
  z.strictObject({
    kind: z.literal('channel'),
    isTry: z.boolean(),
    channel: z.enum(['telegram', 'discord', 'whatsapp']),
    token: Word.optional(),
    /** To link it by a code that is typed on this phone. */
    phone: Word.optional(),
  }),
  /** `telegram:42`: from then on the owner. */
  z.strictObject({ kind: z.literal('owner'), person: z.string().regex(/^[a-z][a-z0-9-]*:\S+$/) }),
]);
export type SetupOrder = z.infer<typeof SetupOrder>;

/** What the guided setup asks and does; every step that writes goes through the settings file. */
export interface SetupPage {
  state(): Promise<SetupState>;
  /** Throws ParleyError where the settings file cannot be written. */
  take(order: SetupOrder): Promise<SetupAnswer>;
}

/** The guided setup, below `/api/setup` (U02). It takes keys and decides who owns this: guard it. */
export function setupRoutes(open: () => Promise<SetupPage>): Hono {
  const app = uncachedRoutes();
  app.get('/', async (c) => c.json(await (await open()).state()));
  app.post('/', async (c) => {
    const order = await bodyOf(c, SetupOrder);
    if (order === undefined) return c.json({ error: 'This is no step of the setup.' }, 400);
    try {
      return c.json(await (await open()).take(order));
    } catch (error) {
      if (error instanceof ParleyError) return c.json({ error: error.message }, 400);
      throw error;
    }
  });
  return app;
}
