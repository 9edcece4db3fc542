import { ParleyError } from '@parley/core';
import { type Context, type Env, Hono } from 'hono';
import type { z } from 'zod';

/** Routes whose answers are private: no cache keeps them. */
export function uncachedRoutes<E extends Env>(): Hono<E> {
  const app = new Hono<E>();
  app.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  return app;
}

/** The body of a request; undefined where it does not fit the schema. */
export async function bodyOf<Body>(c: Context, schema: z.ZodType<Body>): Promise<Body | undefined> {
  return schema.safeParse(await c.req.json().catch(() => undefined)).data;
}

/** Answers with what was done; a ParleyError becomes 400 with its message. */
export async function orRefused(c: Context, done: Promise<object>): Promise<Response> {
  try {
    return c.json(await done);
  } catch (error) {
    if (error instanceof ParleyError) return c.json({ error: error.message }, 400);
    throw error;
  }
}
