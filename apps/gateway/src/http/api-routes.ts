import type { Context, Hono } from 'hono';
import { deleteCookie } from 'hono/cookie';
import { z } from 'zod';
import type { ChannelSettings } from '../channel-operations.ts';
import type { Services } from '../operations.ts';
import { type AppEnv, type createAccess, refuse } from './access.ts';
import type { HookReceiver } from './hook-routes.ts';
import { type PageSessions, type RequestCaller, SIGN_IN_TOKEN } from './page-sessions.ts';
import { getNetwork } from './sender.ts';

/**
 * The caller's name, if there is one. Browsers have sessions; callers with the token can write to
 * the data folder anyway.
 */
export function getSenderName(c: Context<AppEnv>): string {
  const caller: RequestCaller | undefined = c.get('caller');
  return caller?.signIn?.name ?? (caller?.session ? 'the console' : 'the command line');
}

/** The services behind the API. */
export interface ApiServices {
  /** Services for the operations, beyond those of the gateway itself. */
  readonly operations: Omit<
    Services,
    'bus' | 'channels' | 'pageSessions' | 'readableRoutes' | 'situation' | 'status'
  >;
  /** Serves `/hooks/NAME`. */
  readonly hooks?: HookReceiver;
  /** Changes the settings for operations on channels; without it groups cannot be allowed. */
  readonly channelSettings?: ChannelSettings | undefined;
}

const SignIn = z.object({ token: z.string().trim().min(1).max(1_000) });

/** `POST /api/sessions` exchanges the token in its body for a session. */
export function addSignIn(
  app: Hono<AppEnv>,
  access: ReturnType<typeof createAccess>,
  sessions: PageSessions,
): void {
  app.post('/api/sessions', async (c) => {
    const body = SignIn.safeParse(await c.req.json().catch(() => undefined));
    if (!body.success) return c.text('The token is missing.\n', 400);
    const { token } = body.data;
    const signIn = SIGN_IN_TOKEN.test(token) ? await sessions.signInOf(token) : undefined;
    if (signIn === null) return refuse(c, access.refuseSignIn(c));
    const refusal = signIn === undefined ? access.checkToken(c, token) : null;
    if (refusal !== null) return refuse(c, refusal);
    const userAgent = c.req.header('user-agent') ?? '';
    const { secret, session } = await sessions.open({ userAgent, network: getNetwork(c) }, token);
    c.header('cache-control', 'no-store');
    const role = signIn?.role ?? 'owner';
    return c.json({ session: secret, expiresAt: session.expiresAt, role }, 201);
  });
  // Before 0.1 the token was kept in a cookie, which browsers sent to every port of this machine.
  app.get('/', async (c, next) => {
    await next();
    const port = /:(\d+)$/.exec(c.req.header('host') ?? '')?.[1] ?? '80';
    const name = `parley-${port}`;
    if (c.req.header('cookie')?.includes(`${name}=`)) deleteCookie(c, name, { path: '/' });
  });
}
