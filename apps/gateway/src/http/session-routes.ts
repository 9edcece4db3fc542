import { Hono } from 'hono';
import { deleteCookie } from 'hono/cookie';
import { z } from 'zod';
import { type AppEnv, type createAccess, networkOf, refuse } from './access.ts';
import type { PageSessions } from './page-sessions.ts';

const SignIn = z.object({ token: z.string().trim().min(1).max(1_000) });

/** `POST /api/sessions` trades the token, which stands in its body, for a session. */
export function addSignIn(
  app: Hono<AppEnv>,
  access: ReturnType<typeof createAccess>,
  sessions: PageSessions,
): void {
  app.post('/api/sessions', async (c) => {
    const body = SignIn.safeParse(await c.req.json().catch(() => undefined));
    if (!body.success) return c.text('The token is missing.\n', 400);
    const refusal = access.checkToken(c, body.data.token);
    if (refusal !== null) return refuse(c, refusal);
    const userAgent = c.req.header('user-agent') ?? '';
    const { secret, session } = await sessions.open({ userAgent, network: networkOf(c) });
    c.header('cache-control', 'no-store');
    return c.json({ session: secret, expiresAt: session.expiresAt }, 201);
  });
  // Until 0.1 the token lay in a cookie, which every port of this machine was sent.
  app.get('/', async (c, next) => {
    await next();
    const port = /:(\d+)$/.exec(c.req.header('host') ?? '')?.[1] ?? '80';
    const name = `parley-${port}`;
    if (c.req.header('cookie')?.includes(`${name}=`)) deleteCookie(c, name, { path: '/' });
  });
}

/** Who is signed in, below `/api/sessions`; guard it. `current` is the session that asks. */
export function sessionRoutes(sessions: PageSessions): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  app.get('/', async (c) => {
    const caller = c.get('caller');
    const own = caller.kind === 'session' ? caller.session.id : null;
    const shown = (await sessions.list()).map(({ hash: _, openedWith: __, ...facts }) => ({
      ...facts,
      isCurrent: facts.id === own,
    }));
    return c.json({ sessions: shown });
  });
  app.delete('/:id', async (c) => {
    const caller = c.get('caller');
    const asked = c.req.param('id');
    const id = asked === 'current' && caller.kind === 'session' ? caller.session.id : asked;
    if (await sessions.end(id)) return c.json({ ended: id });
    return c.json({ error: `There is no session ${id}; it may have ended already.` }, 404);
  });
  return app;
}
