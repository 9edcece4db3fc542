import { change, createRefusal, type Role, read } from '@parley/core';
import { z } from 'zod';
import type { PageSessions } from './http/page-sessions.ts';

interface SessionNeeds {
  pageSessions(): Promise<Pick<PageSessions, 'list' | 'end'>>;
  /** The lowest role for reading each path; paths that are not listed are for owners only. */
  readableRoutes(): Promise<Readonly<Record<string, Role>>>;
}

/** Browsers that are signed in to the page (U03). */
export const operations = {
  list: read('Browsers that are signed in', {}, async (needs: SessionNeeds, _, { caller }) => {
    const stored = await (await needs.pageSessions()).list();
    return {
      sessions: stored.map(({ hash: _hash, openedWith: _opener, signIn, ...facts }) => ({
        ...facts,
        /** Null when it was opened with the token of the data folder. */
        person: signIn?.name ?? null,
        /** Whether it is the session that sent the request. */
        isCurrent: facts.id === caller.session,
      })),
    };
  }),
  end: change(
    'Sign out a browser, or all of them with the id `all`, immediately',
    { id: z.string() },
    async ({ pageSessions }: SessionNeeds, { id }) => {
      const ended = await (await pageSessions()).end(id);
      if (ended > 0 || id === 'all') return { ended };
      throw createRefusal('no-session', `There is no session ${id}. It may have ended already.`);
    },
  ),
  me: read(
    'The name and role of the caller, and the least role for reading each path',
    {},
    async ({ readableRoutes }: SessionNeeds, _, { caller: { person = null, role } }) => ({
      /** Null for the token of the data folder. */
      name: person,
      role,
      routes: await readableRoutes(),
    }),
    { role: 'viewer', running: true },
  ),
  leave: change(
    'End the session of the caller',
    {},
    async ({ pageSessions }: SessionNeeds, _, { caller: { session } }) => {
      if (session === undefined)
        throw createRefusal(
          'no-session',
          'You signed in with a token, so there is no session to end.',
        );
      return { ended: await (await pageSessions()).end(session) };
    },
    { role: 'viewer' },
  ),
};
