import { type Clock, type CronAnswer, ParleyError, visibleLine } from '@parley/core';
import type { Scrub } from '@parley/core/telemetry';
import type { Store } from '@parley/store';
import { type Context, type Env, Hono } from 'hono';
import { deleteCookie } from 'hono/cookie';
import { z } from 'zod';
import type { ChannelSettings } from '../channel-service.ts';
import { DeadLetterOrder, type DeadLetterService } from '../dead-letters.ts';
import { type AppEnv, type createAccess, refuse } from './access.ts';
import type { AgentServices, AgentsPage, Own } from './agent-routes.ts';
import type { AuditReport, BugReport, ShownSession, ShownSoul, SoulAction } from './api.ts';
import type { CronPage } from './cron-routes.ts';
import type { OpenApprovals } from './decision-routes.ts';
import type { LogPage } from './diagnosis-routes.ts';
import type { HookPage } from './hook-routes.ts';
import type { McpSignInPage } from './mcp-routes.ts';
import { type Caller, type PageSessions, SIGN_IN_TOKEN } from './page-sessions.ts';
import { networkOf } from './sender.ts';
import type { SettingsPage } from './settings-routes.ts';
import type { SetupPage } from './setup-routes.ts';
import type { UsageFacts } from './usage-routes.ts';

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

/** What a service answers, as an error where it refused. */
export function replyWith(c: Context, { ok, text }: CronAnswer): Response {
  return ok ? c.json({ text }) : c.json({ error: text }, 400);
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

/** Of a message, in lists. In characters. */
const FIRST_WORDS = 120;

/** The begin of a text on one line, without secrets: half a secret would not be recognized. */
export function firstWords(text: string, scrub: Scrub): string {
  const line = visibleLine(scrub(text)).replaceAll(/\s+/g, ' ').trim();
  if (line.length <= FIRST_WORDS) return line;
  return `${line.slice(0, FIRST_WORDS).toWellFormed()}…`;
}

/** How many messages the page offers. */
const RECENT = 50;
/** Longer than any id of a platform with the name of its chat. */
const LONGEST_NAME = 700;

/** What became of messages (D08), below `/api/why`. It names chats and people: guard it. */
export function whyRoutes(
  { why }: Pick<Store, 'why'>,
  clock: Clock,
  scrub: Scrub,
  nameOf: (conversationId: string) => string,
): Hono {
  const app = uncachedRoutes();
  app.get('/', async (c) => {
    const message = c.req.query('message')?.trim() ?? '';
    if (message === '' || message.length > LONGEST_NAME) {
      return c.json({ error: 'Name a message: its id, channel:chat/id, a turn, or last.' }, 400);
    }
    return c.json(await why.ask({ message }, clock()));
  });
  app.get('/recent', async (c) => {
    const messages = await why.recent(RECENT);
    return c.json({
      messages: messages.map((one) => ({
        ...one,
        agent: one.conversationId === null ? null : nameOf(one.conversationId),
        text: firstWords(one.text, scrub),
      })),
    });
  });
  return app;
}

/** Dead letters on a page. */
const MOST_LETTERS = 50;

/** Dead letters (D06), below `/api/dead`. They hold what was said in private: guard them. */
export function deadRoutes(service: DeadLetterService): Hono {
  const app = uncachedRoutes();
  app.get('/', async (c) => {
    const { before, limit } = c.req.query();
    const wanted = numberOf(limit) ?? MOST_LETTERS;
    const size = Math.min(Math.max(wanted, 1), MOST_LETTERS);
    return c.json(await service.list({ before: numberOf(before), limit: size }));
  });
  app.get('/:id', async (c) => {
    const id = numberOf(c.req.param('id'));
    return c.json({ letter: id === undefined ? null : await service.letter(id) });
  });
  app.post('/', async (c) => {
    const order = await bodyOf(c, DeadLetterOrder);
    if (order === undefined) return c.json({ error: 'That says not what is to be done.' }, 400);
    return c.json(await service.settle(order));
  });
  return app;
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** SOUL.md for the page and the command line (W06). Throws ParleyError, with a message for people, for what cannot be done. */
export interface SoulPage {
  /** All versions, newest first, each with what can be done about it. */
  list(): Promise<{ readonly versions: readonly ShownSoul[] }>;
  get(number: number): Promise<ShownSoul>;
  /** `by`: who decides. */
  act(number: number, action: SoulAction, by: string): Promise<ShownSoul>;
  propose(proposal: SoulProposal, by: string): Promise<ShownSoul>;
}

const SOUL_ACTIONS: readonly SoulAction[] = ['apply', 'veto', 'rollback'];
const SoulProposal = z.object({ text: z.string(), reason: z.string() });
type SoulProposal = z.infer<typeof SoulProposal>;

/** SOUL.md, below `/api/soul`. The caller acts as an owner: require the token. */
export function soulRoutes(soul: Own<SoulPage>): Hono<AppEnv> {
  const app = uncachedRoutes<AppEnv>();
  const nothing = { error: 'There is nothing like that to do.' };
  app.get('/', async (c) => c.json(await soul(c).list()));
  app.post('/', async (c) => {
    const proposal = await bodyOf(c, SoulProposal);
    return proposal === undefined
      ? c.json(nothing, 400)
      : orRefused(c, soul(c).propose(proposal, senderOf(c)));
  });
  app.get('/:number{[0-9]+}', (c) => orRefused(c, soul(c).get(Number(c.req.param('number')))));
  app.post('/:number{[0-9]+}/:action', async (c) => {
    const action = SOUL_ACTIONS.find((one) => one === c.req.param('action'));
    if (action === undefined) return c.json(nothing, 404);
    return orRefused(c, soul(c).act(Number(c.req.param('number')), action, senderOf(c)));
  });
  return app;
}

/** By name, where there is one. Browsers have sessions; who has the token can write the data folder. */
export function senderOf(c: Context<AppEnv>): string {
  const caller: Caller | undefined = c.get('caller');
  return caller?.signIn?.name ?? (caller?.session ? 'the console' : 'the command line');
}

/** What the routes ask of the heartbeat; everything it gives is JSON. */
export interface ShownHeartbeat {
  report(): Promise<object>;
  /** Runs a task at once: the named one, or the one that is due. Asked twice with one id it runs once. */
  request(id: string, task?: string): Promise<object>;
}

/** `id` is the asker's own, so that a request that is sent again runs nothing twice. */
const HeartbeatBody = z.object({
  id: z.string().min(1).max(100),
  task: z.string().max(200).optional(),
});

/** The report of the heartbeat, below `/api/heartbeat`. It shows private tasks: guard it. */
export function heartbeatRoutes(heartbeat: Own<ShownHeartbeat>): Hono<AppEnv> {
  const app = uncachedRoutes<AppEnv>();
  app.get('/', async (c) => c.json(await heartbeat(c).report()));
  app.post('/now', async (c) => {
    const request = await bodyOf(c, HeartbeatBody);
    if (request === undefined)
      return c.json({ error: 'That needs an id, and a task if one is meant.' }, 400);
    return c.json(await heartbeat(c).request(request.id, request.task));
  });
  return app;
}

const PairBody = z.object({ code: z.string().max(100) });

/** Pairing, below `/api/access`. It names people: guard it. */
export function accessRoutes(store: Pick<Store, 'pairing'>, clock: Clock): Hono {
  const app = uncachedRoutes();
  app.post('/pair', async (c) => {
    const body = await bodyOf(c, PairBody);
    if (body === undefined) return c.json({ error: 'That needs a code; it may be empty.' }, 400);
    // The package is not loaded by commands that do something else.
    const { pair } = await import('@parley/channels');
    return replyWith(c, await pair(store, body.code, clock));
  });
  app.post('/refuse', async (c) => {
    const body = await bodyOf(c, PairBody);
    if (body === undefined) return c.json({ error: 'That needs a code.' }, 400);
    const { refusePairing } = await import('@parley/channels');
    return replyWith(c, await refusePairing(store, body.code, clock));
  });
  return app;
}

/**
 * Ending this process: at `/api/stop`, for a restore, and at `/api/restart`, for settings that count from a start
 * (D12). The answer is sent before anything ends; guard it.
 */
export function endRoutes(end: () => void): Hono {
  const app = new Hono();
  app.post('/', (c) => {
    end();
    return c.json({ text: 'It begins.' }, 202);
  });
  return app;
}

/** What the routes ask, and what they do; without one of them there are no such routes. What is one agent's is the default one's. */
export interface ApiServices extends AgentServices {
  readonly agents?: AgentsPage;
  readonly usage?: UsageFacts;
  readonly cron?: CronPage;
  readonly hooks?: HookPage;
  /** For `/api/approvals`. */
  readonly approvals?: OpenApprovals;
  /** Where `/api/channels` changes the settings; without it groups cannot be allowed there. */
  readonly channelSettings?: ChannelSettings | undefined;
  /** Signing in at MCP servers; without any there are no such routes. */
  readonly mcpSignIn?: McpSignInPage | undefined;
  /** What weakens the guards of this installation (U05). */
  readonly audit?: () => Promise<AuditReport>;
  readonly logs?: () => Promise<LogPage>;
  /** Collects a bundle for a bug report. */
  readonly bugReport?: () => Promise<BugReport>;
  readonly settings?: () => Promise<SettingsPage>;
  readonly setup?: () => Promise<SetupPage>;
  /** Asks this process to start again. */
  readonly restart?: (() => void) | undefined;
  /** Asks this process to end. */
  readonly stop?: (() => void) | undefined;
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

/** Who is signed in, below `/api/sessions`; guard it. `current` is the session that asks, `all` are all. */
export function sessionRoutes(sessions: Pick<PageSessions, 'list' | 'end'>): Hono<AppEnv> {
  const app = uncachedRoutes<AppEnv>();
  app.get('/', async (c) => {
    const own = sessionOf(c);
    const shown: readonly ShownSession[] = (await sessions.list()).map(
      ({ hash: _, openedWith: __, signIn, ...facts }) => ({
        ...facts,
        person: signIn?.name ?? null,
        isCurrent: facts.id === own,
      }),
    );
    return c.json({ sessions: shown });
  });
  app.delete('/:id', async (c) => {
    const asked = c.req.param('id');
    const id = asked === 'current' ? (sessionOf(c) ?? asked) : asked;
    const ended = await sessions.end(id);
    if (ended > 0 || id === 'all') return c.json({ ended });
    return c.json({ error: `There is no session ${id}; it may have ended already.` }, 404);
  });
  return app;
}

/** The session that asks; null: a token does. */
function sessionOf(c: Context<AppEnv>): string | null {
  const caller: Caller | undefined = c.get('caller');
  return caller?.session?.id ?? null;
}
