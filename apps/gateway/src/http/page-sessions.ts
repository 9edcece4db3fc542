import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type Clock, type Logger, reasonOf } from '@parley/core';
import type { PageSession, PageSessionRepository } from '@parley/store';

/** How long a browser stays signed in. In ms. */
export interface PageSessionLimits {
  /** Since its last use. */
  readonly idleMs: number;
  /** However much it is used. */
  readonly longestMs: number;
}

export interface PageSessionOptions {
  readonly repository: PageSessionRepository;
  /** The token as it is now: sessions that an earlier one opened are over. */
  readonly token: () => string;
  readonly limits: PageSessionLimits;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What a session's secret looks like. The prefix distinguishes it from the token, also for the scrubber of logs. */
export const SESSION_SECRET = /^parley_session_[\w-]{43}$/;

/** A use is stored at most this often, so that requests cost a read and no write. In ms. */
const NOTED_EVERY_MS = 60_000;
/** What other processes have ended, and what has expired, is noticed by live streams within this. In ms. */
const LOOK_EVERY_MS = 2_000;
/** Longer ones of browsers are cut. */
const LONGEST_USER_AGENT = 300;

export type PageSessions = ReturnType<typeof createPageSessions>;

/**
 * Browsers that are signed in. A session is a secret of 256 bits that only its browser keeps; here lies
 * its hash. Every request is checked against the database, which all gateways share.
 */
export function createPageSessions({ repository, token, limits, clock, log }: PageSessionOptions) {
  async function list(): Promise<readonly PageSession[]> {
    const current = fingerprint(token());
    return (await repository.list(clock())).filter(({ openedWith }) => openedWith === current);
  }

  const streams = createStreams(
    async () => new Set([fingerprint(token()), ...(await list()).map(({ id }) => id)]),
  );

  async function use(session: PageSession, now: number): Promise<void> {
    const expiresAt = Math.min(now + limits.idleMs, session.createdAt + limits.longestMs);
    try {
      await repository.use({ id: session.id, usedAt: now, expiresAt });
    } catch (error) {
      // A full disk must not shut out those who look for the reason.
      log.warn({ reason: reasonOf(error) }, 'the use of a page session was not stored');
    }
  }

  return {
    list,
    /** Signs a browser in. The secret is returned here and never again. */
    async open(
      facts: Pick<PageSession, 'userAgent' | 'network'>,
    ): Promise<{ readonly secret: string; readonly session: PageSession }> {
      const secret = `parley_session_${randomBytes(32).toString('base64url')}`;
      const hash = fingerprint(secret);
      const now = clock();
      const session: PageSession = {
        id: idOf(hash),
        hash,
        openedWith: fingerprint(token()),
        userAgent: facts.userAgent.slice(0, LONGEST_USER_AGENT),
        network: facts.network,
        createdAt: now,
        usedAt: now,
        expiresAt: now + Math.min(limits.idleMs, limits.longestMs),
      };
      await repository.open(session);
      return { secret, session };
    },
    /** The session that a secret opens, or null; its use is noted. */
    async admit(secret: string): Promise<PageSession | null> {
      const hash = fingerprint(secret);
      const now = clock();
      const session = await repository.find(idOf(hash), now);
      if (session === null || !isSame(session.hash, hash)) return null;
      if (session.openedWith !== fingerprint(token())) return null;
      if (now - session.usedAt >= NOTED_EVERY_MS) await use(session, now);
      return session;
    },
    /** Ends a session, or `all`, here at once, on other gateways with their next request or look; how many. */
    async end(id: string): Promise<number> {
      const ended = await repository.end(id);
      await streams.look();
      return ended;
    },
    /** An answer that goes on until its reader or the session ends; `id` null: the token asked for it. */
    untilEnded: (response: Response, id: string | null): Response =>
      streams.untilEnded(response, id ?? fingerprint(token())),
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
      looking ??= setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS).unref();
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
function fingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** What people and the database call a session. */
function idOf(hash: string): string {
  return hash.slice(0, 12);
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
