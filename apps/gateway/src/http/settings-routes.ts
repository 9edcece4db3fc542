import { ParleyError } from '@parley/core';
import type { Hono } from 'hono';
import { z } from 'zod';
import type { SettingsWritten, ShownSettings } from './api.ts';
import { bodyOf, uncachedRoutes } from './json-routes.ts';

/** Longer texts are no settings, in characters. */
const MAX_TEXT = 1_000_000;
const MAX_CHANGES = 200;

/** What the page asks for. `print` is that of the file it was made from: another one in between is not overwritten. */
export const SettingsOrder = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('values'),
    print: z.string(),
    changes: z
      .array(
        z.strictObject({
          path: z.array(z.union([z.string(), z.int().nonnegative()])).min(1),
          /** Absent: the key is taken out, and its default counts. */
          value: z.json().optional(),
        }),
      )
      .min(1)
      .max(MAX_CHANGES),
  }),
  z.strictObject({
    kind: z.literal('text'),
    print: z.string(),
    text: z.string().max(MAX_TEXT),
  }),
]);
export type SettingsOrder = z.infer<typeof SettingsOrder>;

/** The settings file, for the page. Secrets in it are hidden on the way out, and put back on the way in. */
export interface SettingsPage {
  read(): ShownSettings;
  /** Of JSON, as editors have it. */
  schema(): object;
  /** Writes what Parley would start with, or nothing. Throws ParleyError where the file cannot be written. */
  write(order: SettingsOrder): SettingsWritten;
}

/** Reading and writing the settings, below `/api/settings` (U03, D12). They decide over everything: guard them. */
export function settingsRoutes(open: () => Promise<SettingsPage>): Hono {
  const app = uncachedRoutes();
  app.get('/', async (c) => c.json((await open()).read()));
  app.get('/schema', async (c) => c.json((await open()).schema()));
  app.post('/', async (c) => {
    const order = await bodyOf(c, SettingsOrder);
    if (order === undefined) return c.json({ error: 'This is no change of the settings.' }, 400);
    try {
      return c.json((await open()).write(order));
    } catch (error) {
      if (error instanceof ParleyError) return c.json({ error: error.message }, 400);
      throw error;
    }
  });
  return app;
}
