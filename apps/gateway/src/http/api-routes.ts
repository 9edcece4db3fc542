import type { Context, Hono } from 'hono';
import { deleteCookie } from 'hono/cookie';
import { z } from 'zod';
import type { ChannelSettings } from '../channel-operations.ts';
import type { OperationServices } from '../operations.ts';
import { type AppEnv, type createAccess, createRefusalResponse } from './access.ts';
import type { HookReceiver } from './hook-routes.ts';
import { type PageSessions, type RequestCaller, SIGN_IN_TOKEN } from './page-sessions.ts';
import { getNetwork } from './sender.ts';

/**
 * Returns the caller's name, if there is one. Only browser sessions have names; callers with the
 * token can write to the data folder anyway.
 */
export function getSenderName(c: Context<AppEnv>): string {
  const caller: RequestCaller | undefined = c.get('caller');
  return caller?.signIn?.name ?? (caller?.session ? 'the console' : 'the command line');
}

export interface ApiServices {
  /** The services for the operations, except for the gateway's own services. */
  readonly operations: Omit<
    OperationServices,
    'bus' | 'channels' | 'pageSessions' | 'readableRoutes' | 'situation' | 'status'
  >;
  /** Handles requests to `/hooks/NAME`. */
  readonly hooks?: HookReceiver;
  /** Changes the settings for channel operations; if absent, groups cannot be allowed. */
  readonly channelSettings?: ChannelSettings | undefined;
}

const SignIn = z.object({ token: z.string().trim().min(1).max(1_000) });

/** `POST /api/sessions` exchanges the token in its body for a session. */
export function addSignInRoute(
  app: Hono<AppEnv>,
  access: ReturnType<typeof createAccess>,
  sessions: PageSessions,
): void {
  app.post('/api/sessions', async (c) => {
    const body = SignIn.safeParse(await c.req.json().catch(() => undefined));
    if (!body.success) return c.text('The token is missing.\n', 400);
    const { token } = body.data;
    const signIn = SIGN_IN_TOKEN.test(token) ? await sessions.signInOf(token) : undefined;
    if (signIn === null) return createRefusalResponse(c, access.refuseSignIn(c));
    const refusal = signIn === undefined ? access.checkToken(c, token) : null;
    if (refusal !== null) return createRefusalResponse(c, refusal);
    const userAgent = c.req.header('user-agent') ?? '';
    const { secret, session } = await sessions.open({ userAgent, network: getNetwork(c) }, token);
    c.header('cache-control', 'no-store');
    const role = signIn?.role ?? 'owner';
    return c.json({ session: secret, expiresAt: session.expiresAt, role }, 201);
  });
  // Versions before 0.1 kept the token in a cookie, which browsers sent to every port of this
  // machine; the cookie is deleted here.
  app.get('/', async (c, next) => {
    await next();
    const port = /:(\d+)$/.exec(c.req.header('host') ?? '')?.[1] ?? '80';
    const name = `parley-${port}`;
    if (c.req.header('cookie')?.includes(`${name}=`)) deleteCookie(c, name, { path: '/' });
  });
}
