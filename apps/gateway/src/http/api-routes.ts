import { ParleyError } from '@parley/core';
import { type Context, type Env, Hono } from 'hono';
import { deleteCookie } from 'hono/cookie';
import { z } from 'zod';
import type { ChannelSettings } from '../channel-operations.ts';
import type { Services } from '../operations.ts';
import { type AppEnv, type createAccess, refuse } from './access.ts';
import type { AgentServices, AgentsPage, Own } from './agent-routes.ts';
import type { AuditReport, BugReport } from './api.ts';
import type { LogPage } from './diagnosis-routes.ts';
import type { HookReceiver } from './hook-routes.ts';
import type { McpSignInPage } from './mcp-routes.ts';
import { type Caller, type PageSessions, SIGN_IN_TOKEN } from './page-sessions.ts';
import { networkOf } from './sender.ts';
import type { SettingsPage } from './settings-routes.ts';
import type { SetupPage } from './setup-routes.ts';

/** Routes whose answers are private: no cache keeps them. */
export function uncachedRoutes<E extends Env>(): Hono<E> {
  const app = new Hono<E>();
  app.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
  });
  return app;
}

/** The body of a request; undefined when it is not as it should be. */
export async function bodyOf<Body>(c: Context, schema: z.ZodType<Body>): Promise<Body | undefined> {
  return schema.safeParse(await c.req.json().catch(() => undefined)).data;
}

/** A ParleyError becomes the answer, with its message. */
export async function orRefused(c: Context, done: Promise<object>): Promise<Response> {
  try {
    return c.json(await done);
  } catch (error) {
    if (error instanceof ParleyError) return c.json({ error: error.message }, 400);
    throw error;
  }
}

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
  /** A preview of a prompt. Throws ParleyError where the question cannot be answered. */
  preview(asked: Readonly<Record<string, string>>): Promise<object>;
}

const LARGEST_PAGE = 100;
const USUAL_PAGE = 30;

/** The prompts of past turns (P17), below `/api/prompts`. They hold private text: guard them. */
export function promptRoutes(inspector: Own<PromptInspector>): Hono<AppEnv> {
  const app = uncachedRoutes<AppEnv>();
  app.get('/', async (c) => {
    const { chat, before, limit } = c.req.query();
    return c.json(await inspector(c).list({ chat, before, limit: pageSize(limit) }));
  });
  app.get('/preview', (c) => {
    const { agent: _, ...asked } = c.req.query();
    return orRefused(c, inspector(c).preview(asked));
  });
  app.get('/:turn', async (c) => answer(c, await inspector(c).prompt(c.req.param('turn'))));
  app.get('/:before/compare/:after', async (c) => {
    const { before, after } = c.req.param();
    return answer(c, await inspector(c).compare(before, after));
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

/** By name, where there is one. Browsers have sessions; who has the token can write the data folder. */
export function senderOf(c: Context<AppEnv>): string {
  const caller: Caller | undefined = c.get('caller');
  return caller?.signIn?.name ?? (caller?.session ? 'the console' : 'the command line');
}

/** A restored state is ready: this process ends all it does, exchanges its own for it, and starts again. */
const RestoreRequest = z.object({
  /** Names the answer, which lies in the data folder afterwards: by then this server is gone. */
  id: z.uuid(),
  /** The folder in the data folder in which it is ready. */
  staging: z.string().regex(/^restoring-\w+$/),
});
export type RestoreRequest = z.infer<typeof RestoreRequest>;

/** Restoring, at `/api/restore`. It replaces everything: guard it. */
export function restoreRoutes(ask: (request: RestoreRequest) => void): Hono {
  const app = new Hono();
  app.post('/', async (c) => {
    const request = await bodyOf(c, RestoreRequest);
    if (request === undefined) return c.json({ error: 'This is no request to restore.' }, 400);
    ask(request);
    return c.json({ text: 'It begins.' }, 202);
  });
  return app;
}

/** Starting again, at `/api/restart`, for settings that count from a start (D12). */
export function restartRoutes(restart: () => void): Hono {
  const app = new Hono();
  app.post('/', (c) => {
    restart();
    return c.json({ text: 'It begins.' }, 202);
  });
  return app;
}

/** What the routes ask, and what they do; without one of them there are no such routes. What is one agent's is the default one's. */
export interface ApiServices extends AgentServices {
  /** For the operations, besides what the gateway has itself; without it there are none. */
  readonly operations?: Omit<Services, 'pageSessions' | 'channels'>;
  readonly agents?: AgentsPage;
  /** For `/hooks/NAME`. */
  readonly hooks?: HookReceiver;
  /** Where operations on channels change the settings; without it groups cannot be allowed there. */
  readonly channelSettings?: ChannelSettings | undefined;
  /** Signing in at MCP servers; without any there are no such routes. */
  readonly mcpSignIn?: McpSignInPage | undefined;
  /** What weakens the guards of this installation (U05). */
  readonly audit?: () => Promise<AuditReport>;
  readonly logs?: () => Promise<LogPage>;
  /** Collects a bundle for a bug report. */
  readonly bugReport?: () => Promise<BugReport>;
  /** Asks for a backup to be put back. */
  readonly restore?: ((request: RestoreRequest) => void) | undefined;
  readonly settings?: () => Promise<SettingsPage>;
  readonly setup?: () => Promise<SetupPage>;
  /** Asks this process to start again. */
  readonly restart?: (() => void) | undefined;
}

const SignIn = z.object({ token: z.string().trim().min(1).max(1_000) });

/** `POST /api/sessions` trades a token, in its body, for a session. */
export function addSignIn(
  app: Hono<AppEnv>,
  access: ReturnType<typeof createAccess>,
  sessions: PageSessions,
): void {
  app.post('/api/sessions', async (c) => {
    const body = await bodyOf(c, SignIn);
    if (body === undefined) return c.text('The token is missing.\n', 400);
    const { token } = body;
    const signIn = SIGN_IN_TOKEN.test(token) ? await sessions.signInOf(token) : undefined;
    if (signIn === null) return refuse(c, access.refuseSignIn(c));
    const refusal = signIn === undefined ? access.checkToken(c, token) : null;
    if (refusal !== null) return refuse(c, refusal);
    const userAgent = c.req.header('user-agent') ?? '';
    const { secret, session } = await sessions.open({ userAgent, network: networkOf(c) }, token);
    c.header('cache-control', 'no-store');
    const role = signIn?.role ?? 'owner';
    return c.json({ session: secret, expiresAt: session.expiresAt, role }, 201);
  });
  // Until 0.1 the token lay in a cookie, which every port of this machine was sent.
  app.get('/', async (c, next) => {
    await next();
    const port = /:(\d+)$/.exec(c.req.header('host') ?? '')?.[1] ?? '80';
    const name = `parley-${port}`;
    if (c.req.header('cookie')?.includes(`${name}=`)) deleteCookie(c, name, { path: '/' });
  });
}
