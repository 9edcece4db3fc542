import { createHash, createHmac } from 'node:crypto';
import { isSameSecretText } from '@parley/channels';
import { decodeText, type Monotonic } from '@parley/core';
import type { Hooks } from '@parley/proactive';
import { type Context, Hono } from 'hono';
import { type AppEnv, parseBearer } from './access.ts';
import type { SecretVerifier } from './door.ts';

/** The settings that decide whether a request to a hook is accepted. */
type HookBounds = Pick<Hooks['rules'][string], 'token' | 'signature' | 'perMinute' | 'maxBytes'>;

/** Accepts events from other programs (H09), and counts the outcome of each request. */
export interface HookReceiver extends Pick<Hooks, 'take' | 'count'> {
  readonly rules: Readonly<Record<string, HookBounds>>;
}

type HookResult = Awaited<ReturnType<Hooks['take']>>;

/**
 * Rules for unknown hook names, so that rejecting an unknown name takes as long as rejecting a
 * wrong token.
 */
const NOBODYS: HookBounds = { token: '', signature: true, perMinute: 0, maxBytes: 65_536 };

/**
 * Creates the route `POST /hooks/NAME` (H09). The page's token is not accepted here, and a hook's
 * token is accepted nowhere else. Requests with an unknown name and with a wrong token get the same
 * response. The response is 202 once the event is durable.
 */
export function createHookRoutes(
  hooks: HookReceiver,
  { monotonic, door }: { readonly monotonic: Monotonic; readonly door: SecretVerifier },
): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  const rate = createHookRateLimiter(monotonic);
  function unproven(c: Context<AppEnv>): Response {
    hooks.count('unauthorized');
    if (!hasCredentials(c)) return refuseHook(c, 401, UNAUTHORIZED);
    const { status, message, retryAfterSeconds } = door.refuseWrong(c, UNAUTHORIZED);
    return refuseHook(c, status === 429 ? 429 : 401, message, (retryAfterSeconds ?? 0) * 1_000);
  }
  app.post('/:name', async (c) => {
    const { name } = c.req.param();
    const rule = Object.hasOwn(hooks.rules, name) ? hooks.rules[name] : undefined;
    const sent = await authenticateRequest(c, rule ?? NOBODYS);
    if (sent === null || rule === undefined) return unproven(c);
    const pauseMs = rate.take(name, rule.perMinute);
    if (pauseMs > 0) {
      hooks.count('too-many', name);
      return refuseHook(
        c,
        429,
        `The hook accepts at most ${rule.perMinute} events per minute.`,
        pauseMs,
      );
    }
    const bytes = sent.body ?? (await readBody(c, rule.maxBytes));
    if (bytes === null || bytes.byteLength > rule.maxBytes) {
      hooks.count('too-large', name);
      return refuseHook(c, 413, `The hook accepts at most ${rule.maxBytes} bytes.`);
    }
    const contentType = c.req.header('content-type') ?? '';
    const declared = /charset=["']?([\w.:-]+)/i.exec(contentType)?.[1];
    const body = decodeText(bytes, { declared }).text;
    const key = sent.isSigned ? hashSignedBody(bytes) : getDeliveryKey(c);
    if (key !== undefined && key.length > MAX_KEY)
      return refuseHook(c, 400, `An Idempotency-Key must not exceed ${MAX_KEY} characters.`);
    return respondToHook(c, hooks, name, await hooks.take(name, { contentType, body, key }));
  });
  return app;
}

const UNAUTHORIZED =
  'No hook with that name accepts this token or signature. A body that is too large counts as unsigned.';
const MAX_KEY = 255;

/**
 * A sender with the token uses the same key for repeated events; GitHub uses its own header for
 * this.
 */
function getDeliveryKey(c: Context): string | undefined {
  return c.req.header('idempotency-key') ?? c.req.header('x-github-delivery');
}

/**
 * A signature covers only the body, so a copy of a signed request counts as the same event even if
 * its headers differ. Headers cannot contain a newline, so a key from a header is always different
 * from these keys.
 */
function hashSignedBody(body: Uint8Array): string {
  return `signed\n${createHash('sha256').update(body).digest('hex')}`;
}

/**
 * The delay (ms) after which senders should retry an event that cannot be accepted at the moment.
 */
const LATER_MS = 30_000;

function respondToHook(c: Context, hooks: HookReceiver, name: string, taken: HookResult): Response {
  if (taken.kind !== 'taken') {
    hooks.count(taken.kind, name);
    return refuseHook(c, 503, `Not accepted: ${taken.reason}.`, LATER_MS);
  }
  hooks.count(taken.isNew ? 'taken' : 'repeated', name);
  return c.json({ id: taken.id }, 202);
}

function refuseHook(
  c: Context,
  status: 400 | 401 | 413 | 429 | 503,
  message: string,
  waitMs = 0,
): Response {
  if (status === 401) c.header('www-authenticate', 'Bearer');
  if (waitMs > 0) c.header('retry-after', String(Math.ceil(waitMs / 1_000)));
  return c.json({ error: message }, status, { 'cache-control': 'no-store' });
}

/** Returns whether a request contains a token or a signature. */
function hasCredentials(c: Context): boolean {
  return parseBearer(c) !== undefined || c.req.header('x-hub-signature-256') !== undefined;
}

/** A request from a sender who has the token; it includes the body if the check had to read it. */
type AuthenticatedRequest =
  | { readonly isSigned: false; readonly body?: undefined }
  | { readonly isSigned: true; readonly body: Uint8Array };

/** Returns null if the sender does not have the token. */
async function authenticateRequest(
  c: Context,
  { token, signature, maxBytes }: HookBounds,
): Promise<AuthenticatedRequest | null> {
  const given = parseBearer(c);
  if (given !== undefined) {
    return isSameSecretText(given, token) && token !== '' ? { isSigned: false } : null;
  }
  const signed = c.req.header('x-hub-signature-256');
  if (signed === undefined || !signature) return null;
  const body = await readBody(c, maxBytes);
  // A body that is too large is not read, so its signature cannot be verified.
  if (body === null) return null;
  const expected = `sha256=${createHmac('sha256', token).update(body).digest('hex')}`;
  return isSameSecretText(signed, expected) && token !== '' ? { isSigned: true, body } : null;
}

/**
 * Reads the raw bytes of the body, over which a signature is made; returns null if the body exceeds
 * the limit, without reading the rest.
 */
async function readBody(c: Context, maxBytes: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of c.req.raw.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const MINUTE_MS = 60_000;

/** Counts the events of the last minute per hook, in this process only. */
function createHookRateLimiter(monotonic: Monotonic) {
  const taken = new Map<string, readonly number[]>();
  return {
    /**
     * Counts an event and returns 0, or returns how long (ms) to wait until another event is
     * permitted.
     */
    take(name: string, perMinute: number): number {
      const now = monotonic();
      const lately = (taken.get(name) ?? []).filter((at) => at > now - MINUTE_MS);
      const [first] = lately;
      if (lately.length >= perMinute && first !== undefined) return first + MINUTE_MS - now;
      taken.set(name, [...lately, now]);
      return 0;
    },
  };
}
