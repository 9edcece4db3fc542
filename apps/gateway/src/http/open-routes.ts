import { findUnmatchedRoute, type HttpCapability, type SecretDoor } from '@parley/channels';
import type { Monotonic } from '@parley/core';
import type { Context, Hono } from 'hono';
import type { AppEnv } from './access.ts';
import { allowOrigins } from './cors.ts';
import type { SecretVerifier } from './door.ts';
import { createHookRoutes, type HookReceiver } from './hook-routes.ts';
import { PAGE_PATH } from './scrubbed-app.ts';

/** The path of a route that handles everything below it. */
export const FACET_PATH = '/channels/:channel/:account/*';
const API_PATH = '/v1/*';
const WHOLE_PATHS: ReadonlySet<string> = new Set([FACET_PATH, API_PATH, PAGE_PATH]);

interface OpenRoutes {
  readonly channel: (channel: string, account: string) => HttpCapability | undefined;
  readonly hooks?: HookReceiver | undefined;
  readonly monotonic: Monotonic;
}

/**
 * Adds the routes that do not require the page's token: platform callbacks, the API and hooks, and
 * the responses to wrong addresses.
 */
export function addOpenRoutes(app: Hono<AppEnv>, options: OpenRoutes, door: SecretVerifier): void {
  // The address check runs first, because a request to a wrong address is not an attempt to guess a
  // token, even if it contains one.
  app.use('*', async (c, next) => refuseUnmatchedRoute(app, c) ?? next());
  // Channel routes run before the access check: platforms and programs call them under a public
  // host name and do not have the page's token.
  app.all(FACET_PATH, async (c, next) => {
    const { channel, account } = c.req.param();
    const routes = options.channel(channel, account);
    return routes?.open ? routes.fetch(c.req.raw, createSecretDoor(door, c)) : next();
  });
  // API clients have their own tokens, and may reach the gateway under any host name.
  const api = () => options.channel('api', 'default');
  app.use(
    API_PATH,
    allowOrigins(() => api()?.origins ?? []),
  );
  app.all(API_PATH, (c) => answerClient(c, door, api()));
  if (options.hooks !== undefined)
    app.route('/hooks', createHookRoutes(options.hooks, { ...options, door }));
}

/** The paths that API clients request, with any base address. */
const API_ADDRESS =
  /\/(?:chat\/completions|completions|responses|embeddings|models(?:\/[^/]+)?)\/*$/;
const API_HINT =
  "The API is at /v1. Set the client's base URL to the gateway's address followed by /v1, so that the client requests POST /v1/chat/completions and GET /v1/models.";

/**
 * Responds to a request that no route handles, before any secret is compared; returns undefined if
 * a route handles it.
 */
function refuseUnmatchedRoute(app: Hono<AppEnv>, c: Context<AppEnv>): Response | undefined {
  const wrong = findUnmatchedRoute(app, c.req, (path) => WHOLE_PATHS.has(path));
  if (wrong === null) return undefined;
  const { status, message, allow } = wrong;
  if (allow !== undefined) c.header('allow', allow);
  if (!API_ADDRESS.test(c.req.path) || c.req.path.startsWith('/api/'))
    return c.text(`${message}${status === 404 ? ' The page is at "/".' : ''}\n`, status);
  return c.json(createApiError(`${message} ${API_HINT}`, 'not_found'), status);
}

/** Formats an error in the OpenAI format. */
function createApiError(message: string, code: string | null): object {
  const type = code === null ? 'server_error' : 'invalid_request_error';
  return { error: { message, type, param: null, code } };
}

function createSecretDoor(door: SecretVerifier, c: Context<AppEnv>): SecretDoor {
  return { refuseWrong: () => door.refuseWrong(c, '').retryAfterSeconds ?? 0 };
}

const NO_API = 'No API is configured here. Add its clients to the setting api.clients.';

/**
 * Responds to an API client. If the adapter does not handle the request, the error is also in the
 * OpenAI format.
 */
async function answerClient(
  c: Context<AppEnv>,
  door: SecretVerifier,
  routes: HttpCapability | undefined,
): Promise<Response> {
  if (routes === undefined) return c.json(createApiError(NO_API, 'not_found'), 404);
  const answered = await routes.fetch(c.req.raw, createSecretDoor(door, c));
  if (!answered.headers.get('content-type')?.startsWith('text/plain')) return answered;
  c.header('retry-after', answered.headers.get('retry-after') ?? '5');
  return c.json(createApiError((await answered.text()).trim(), null), 503);
}
