import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, type Logger, type Role, reasonOf } from '@parley/core';
import type { PageSession, PageSessionRepository, SignIn, SignInRepository } from '@parley/store';

/** How long a browser stays signed in, in ms. */
export interface PageSessionLimits {
  /** The maximum time (ms) since the session was last used. */
  readonly idleMs: number;
  /** The maximum total time (ms), regardless of use. */
  readonly longestMs: number;
}

export interface PageSessionOptions {
  readonly repository: PageSessionRepository;
  readonly signIns: SignInRepository;
  /** Returns the current token. Sessions opened by an earlier token are invalid. */
  readonly token: () => string;
  readonly limits: PageSessionLimits;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The format of a session's secret. The prefix distinguishes it from the token, for example in the
 * log scrubber.
 */
export const SESSION_SECRET = /^parley_session_[\w-]{43}$/;

export const SIGN_IN_PREFIX = 'parley_signin_';
/** The format of a named sign-in's token. */
export const SIGN_IN_TOKEN = /^parley_signin_[\w-]{43}$/;

/**
 * The minimum interval (ms) between stored uses, so that most requests read from the database but
 * do not write to it.
 */
const NOTED_INTERVAL_MS = 60_000;
/**
 * How often (ms) streams check whether their session has expired or was ended by another process.
 */
const POLL_INTERVAL_MS = 2_000;
/** The maximum length of a stored user agent; longer ones are truncated. */
const MAX_USER_AGENT = 300;

/** The sender of a request, authenticated by a token or by a session that a token opened. */
export interface RequestCaller {
  /** The session; null if a token authenticated the request. */
  readonly session: PageSession | null;
  /** The named sign-in; null for the data folder's token, whose holder has no name. */
  readonly signIn: SignIn | null;
  readonly role: Role;
}

/** A session and the sign-in that opened it; null for the data folder's token. */
export interface OpenSession extends PageSession {
  readonly signIn: SignIn | null;
}

export type PageSessions = ReturnType<typeof createPageSessions>;

/**
 * Manages the sessions of signed-in browsers. A session is a 256-bit secret that only the browser
 * stores; the database stores a hash of it. Every request is checked against the database, which
 * all gateways share. A session is valid as long as the token that opened it, which is either the
 * data folder's token or the token of a named sign-in.
 */
export function createPageSessions(options: PageSessionOptions) {
  const { repository, token, limits, clock } = options;
  const { openers, signedIn, note } = createSignIns(options);

  /** Lists all valid sessions, each with the sign-in that opened it. */
  async function list(): Promise<readonly OpenSession[]> {
    const [known, stored] = await Promise.all([openers(), repository.list(clock())]);
    return stored.flatMap((session) => {
      const signIn = known.get(session.openedWith);
      return signIn === undefined ? [] : [{ ...session, signIn }];
    });
  }

  const streams = createSessionStreams(
    async () => new Set([...(await openers()).keys(), ...(await list()).map(({ id }) => id)]),
  );

  function use(session: PageSession, now: number): Promise<void> {
    const expiresAt = Math.min(now + limits.idleMs, session.createdAt + limits.longestMs);
    return note(repository.use({ id: session.id, usedAt: now, expiresAt }));
  }

  return {
    list,
    look: streams.look,
    /** Finds the named sign-in to which a token belongs, or null. */
    signInOf: (given: string): Promise<SignIn | null> => signedIn(fingerprintSecret(given)),
    /**
     * Signs a browser in with the token `by`. Returns the session's secret, which cannot be read
     * again.
     */
    async open(
      facts: Pick<PageSession, 'userAgent' | 'network'>,
      by = token(),
    ): Promise<{ readonly secret: string; readonly session: PageSession }> {
      const secret = `parley_session_${randomBytes(32).toString('base64url')}`;
      const hash = fingerprintSecret(secret);
      const now = clock();
      const session: PageSession = {
        id: toSessionId(hash),
        hash,
        openedWith: fingerprintSecret(by),
        userAgent: facts.userAgent.slice(0, MAX_USER_AGENT),
        network: facts.network,
        createdAt: now,
        usedAt: now,
        expiresAt: now + Math.min(limits.idleMs, limits.longestMs),
      };
      await repository.open(session);
      return { secret, session };
    },
    /** Returns the caller to whom a session's secret belongs, or null, and records the use. */
    async admit(secret: string): Promise<RequestCaller | null> {
      const hash = fingerprintSecret(secret);
      const now = clock();
      const session = await repository.find(toSessionId(hash), now);
      if (session === null || !isSameFingerprint(session.hash, hash)) return null;
      const isToken = session.openedWith === fingerprintSecret(token());
      const signIn = isToken ? null : await signedIn(session.openedWith);
      if (!isToken && signIn === null) return null;
      if (now - session.usedAt >= NOTED_INTERVAL_MS) await use(session, now);
      return { session, signIn, role: signIn?.role ?? 'owner' };
    },
    /**
     * Ends one session, or `all`, and returns the number of ended sessions. Other gateways notice
     * this at their next request or check.
     */
    async end(id: string): Promise<number> {
      const ended = await repository.end(id);
      await streams.look();
      return ended;
    },
    /**
     * Returns a streaming response that ends when its client disconnects, or when the caller's
     * session or sign-in ends.
     */
    untilEnded: (response: Response, { session, signIn }: RequestCaller): Response =>
      streams.untilEnded(response, session?.id ?? signIn?.hash ?? fingerprintSecret(token())),
  };
}

/** Finds the tokens that open sessions by their fingerprints. */
function createSignIns({ signIns, token, clock, log }: PageSessionOptions) {
  /**
   * Records the use of a session or sign-in. A full disk may prevent the record, but must not lock
   * out people who investigate the problem.
   */
  async function note(use: Promise<unknown>): Promise<void> {
    await use.catch((error: unknown) =>
      log.warn({ reason: reasonOf(error) }, 'could not record the use of a page session'),
    );
  }

  return {
    note,
    /** Returns the sign-in for each token; null for the data folder's token. */
    async openers(): Promise<ReadonlyMap<string, SignIn | null>> {
      const named = (await signIns.list()).map((signIn) => [signIn.hash, signIn] as const);
      return new Map<string, SignIn | null>([...named, [fingerprintSecret(token()), null]]);
    },
    /** Finds a named sign-in, or null, and records its use. */
    async signedIn(hash: string): Promise<SignIn | null> {
      const signIn = await signIns.find(hash);
      if (signIn === null) return null;
      const now = clock();
      if (now - (signIn.usedAt ?? 0) >= NOTED_INTERVAL_MS) await note(signIns.use(hash, now));
      return signIn;
    },
  };
}

/**
 * Tracks streaming responses, each of which was opened by a session or a token. `alive` returns the
 * sessions and tokens that are still valid.
 */
function createSessionStreams(alive: () => Promise<ReadonlySet<string>>) {
  const open = new Map<AbortController, string>();
  let looking: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    if (open.size === 0) return;
    const good = await alive();
    for (const [stream, opener] of open) if (!good.has(opener)) stream.abort();
  }

  function close(stream: AbortController): void {
    open.delete(stream);
    if (open.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  }

  return {
    look,
    untilEnded(response: Response, opener: string): Response {
      if (response.body === null) return response;
      const stream = new AbortController();
      open.set(stream, opener);
      // While the database is unavailable, streams cannot be checked, but other requests are not
      // answered either.
      looking ??= setInterval(() => void look().catch(() => undefined), POLL_INTERVAL_MS).unref();
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      void response.body
        .pipeTo(writable, { signal: stream.signal, preventAbort: true })
        // The server closes the stream, so the client sees an orderly end unless it has already
        // disconnected.
        .catch(() => writable.close().catch(() => undefined))
        .finally(() => close(stream));
      return new Response(readable, response);
    },
  };
}

/** Returns a hash that identifies a secret without revealing it. */
export function fingerprintSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Returns the id of a session for people and the database. */
export function toSessionId(hash: string): string {
  return hash.slice(0, 12);
}

function isSameFingerprint(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
