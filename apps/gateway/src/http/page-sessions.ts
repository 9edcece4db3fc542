import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, type Logger, type Role, reasonOf } from '@parley/core';
import type { PageSession, PageSessionRepository, SignIn, SignInRepository } from '@parley/store';

/** How long a browser stays signed in. In ms. */
export interface PageSessionLimits {
  /** Since its last use. */
  readonly idleMs: number;
  /** However much it is used. */
  readonly longestMs: number;
}

export interface PageSessionOptions {
  readonly repository: PageSessionRepository;
  readonly signIns: SignInRepository;
  /** The token as it is now: sessions that an earlier one opened are over. */
  readonly token: () => string;
  readonly limits: PageSessionLimits;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What a session's secret looks like. The prefix distinguishes it from the token, also for the scrubber of logs. */
export const SESSION_SECRET = /^parley_session_[\w-]{43}$/;

export const SIGN_IN_PREFIX = 'parley_signin_';
/** What the token of a named sign-in looks like. */
export const SIGN_IN_TOKEN = /^parley_signin_[\w-]{43}$/;

/** A use is stored at most this often, so that requests cost a read and no write. In ms. */
const NOTED_INTERVAL_MS = 60_000;
/** What other processes have ended, and what has expired, is noticed by live streams within this. In ms. */
const POLL_INTERVAL_MS = 2_000;
/** Longer ones of browsers are cut. */
const MAX_USER_AGENT = 300;

/** Who a request comes from: by a token, or by a session that one has opened. */
export interface Caller {
  /** Null: it came by a token. */
  readonly session: PageSession | null;
  /** Null: the token of the data folder, whose owner has no name. */
  readonly signIn: SignIn | null;
  readonly role: Role;
}

/** A session, and whose it is; null: of the token of the data folder. */
export interface OpenSession extends PageSession {
  readonly signIn: SignIn | null;
}

export type PageSessions = ReturnType<typeof createPageSessions>;

/**
 * Browsers that are signed in. A session is a secret of 256 bits that only its browser keeps; here lies
 * its hash. Every request is checked against the database, which all gateways share. A session is as good as the token
 * that opened it: the one of the data folder, or that of a named sign-in.
 */
export function createPageSessions(options: PageSessionOptions) {
  const { repository, token, limits, clock } = options;
  const { openers, signedIn, note } = createSignIns(options);

  /** All that are good, and whose each is. */
  async function list(): Promise<readonly OpenSession[]> {
    const [known, stored] = await Promise.all([openers(), repository.list(clock())]);
    return stored.flatMap((session) => {
      const signIn = known.get(session.openedWith);
      return signIn === undefined ? [] : [{ ...session, signIn }];
    });
  }

  const streams = createStreams(
    async () => new Set([...(await openers()).keys(), ...(await list()).map(({ id }) => id)]),
  );

  function use(session: PageSession, now: number): Promise<void> {
    const expiresAt = Math.min(now + limits.idleMs, session.createdAt + limits.longestMs);
    return note(repository.use({ id: session.id, usedAt: now, expiresAt }));
  }

  return {
    list,
    look: streams.look,
    /** The named sign-in that a token is of, or null. */
    signInOf: (given: string): Promise<SignIn | null> => signedIn(fingerprint(given)),
    /** Signs a browser in, with the token `by`. The secret is returned here and never again. */
    async open(
      facts: Pick<PageSession, 'userAgent' | 'network'>,
      by = token(),
    ): Promise<{ readonly secret: string; readonly session: PageSession }> {
      const secret = `parley_session_${randomBytes(32).toString('base64url')}`;
      const hash = fingerprint(secret);
      const now = clock();
      const session: PageSession = {
        id: idOf(hash),
        hash,
        openedWith: fingerprint(by),
        userAgent: facts.userAgent.slice(0, MAX_USER_AGENT),
        network: facts.network,
        createdAt: now,
        usedAt: now,
        expiresAt: now + Math.min(limits.idleMs, limits.longestMs),
      };
      await repository.open(session);
      return { secret, session };
    },
    /** Who has the session that a secret opens, or null; its use is noted. */
    async admit(secret: string): Promise<Caller | null> {
      const hash = fingerprint(secret);
      const now = clock();
      const session = await repository.find(idOf(hash), now);
      if (session === null || !isSame(session.hash, hash)) return null;
      const isToken = session.openedWith === fingerprint(token());
      const signIn = isToken ? null : await signedIn(session.openedWith);
      if (!isToken && signIn === null) return null;
      if (now - session.usedAt >= NOTED_INTERVAL_MS) await use(session, now);
      return { session, signIn, role: signIn?.role ?? 'owner' };
    },
    /** Ends a session, or `all`, here at once, on other gateways with their next request or look; how many. */
    async end(id: string): Promise<number> {
      const ended = await repository.end(id);
      await streams.look();
      return ended;
    },
    /** An answer that goes on until its reader, the session or the sign-in of the caller ends. */
    untilEnded: (response: Response, { session, signIn }: Caller): Response =>
      streams.untilEnded(response, session?.id ?? signIn?.hash ?? fingerprint(token())),
  };
}

/** The tokens that open, by their fingerprints. */
function createSignIns({ signIns, token, clock, log }: PageSessionOptions) {
  /** Notes a use, which a full disk may prevent: it must not shut out those who look for the reason. */
  async function note(use: Promise<unknown>): Promise<void> {
    await use.catch((error: unknown) =>
      log.warn({ reason: reasonOf(error) }, 'the use of a page session was not stored'),
    );
  }

  return {
    note,
    /** The sign-in of each; null: it is the token of the data folder. */
    async openers(): Promise<ReadonlyMap<string, SignIn | null>> {
      const named = (await signIns.list()).map((signIn) => [signIn.hash, signIn] as const);
      return new Map<string, SignIn | null>([...named, [fingerprint(token()), null]]);
    },
    /** A named sign-in, or null; its use is noted. */
    async signedIn(hash: string): Promise<SignIn | null> {
      const signIn = await signIns.find(hash);
      if (signIn === null) return null;
      const now = clock();
      if (now - (signIn.usedAt ?? 0) >= NOTED_INTERVAL_MS) await note(signIns.use(hash, now));
      return signIn;
    },
  };
}

/** Answers that go on, each opened by a session or the token; `alive` names those that are still good. */
function createStreams(alive: () => Promise<ReadonlySet<string>>) {
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
      // While the database is away nothing is known; nor does it answer any request then.
      looking ??= setInterval(() => void look().catch(() => undefined), POLL_INTERVAL_MS).unref();
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      void response.body
        .pipeTo(writable, { signal: stream.signal, preventAbort: true })
        // Ended from here: the reader sees an orderly end, unless it is gone already.
        .catch(() => writable.close().catch(() => undefined))
        .finally(() => close(stream));
      return new Response(readable, response);
    },
  };
}

/** Names a secret without giving it away. */
export function fingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** What people and the database call a session. */
export function idOf(hash: string): string {
  return hash.slice(0, 12);
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
