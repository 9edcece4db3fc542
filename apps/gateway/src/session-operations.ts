import {
  createRefusalError,
  defineChangeOperation,
  defineReadOperation,
  type Role,
} from '@parley/core';
import { z } from 'zod';
import type { PageSessions } from './http/page-sessions.ts';

interface SessionOperationDeps {
  pageSessions(): Promise<Pick<PageSessions, 'list' | 'end'>>;
  /** Returns the lowest role for reading each path; other paths are for owners only. */
  readableRoutes(): Promise<Readonly<Record<string, Role>>>;
}

/** Operations on browsers that are signed in to the page (U03). */
export const operations = {
  list: defineReadOperation(
    'List the browsers that are signed in',
    {},
    async (needs: SessionOperationDeps, _, { caller }) => {
      const stored = await (await needs.pageSessions()).list();
      return {
        sessions: stored.map(({ hash: _hash, openedWith: _opener, signIn, ...facts }) => ({
          ...facts,
          /** The name of the sign-in; null if the session was opened with the data folder's token. */
          person: signIn?.name ?? null,
          /** Whether this request came from this session. */
          isCurrent: facts.id === caller.session,
        })),
      };
    },
  ),
  end: defineChangeOperation(
    'Sign out a browser, or all browsers with the id `all`, immediately',
    { id: z.string() },
    async ({ pageSessions }: SessionOperationDeps, { id }) => {
      const ended = await (await pageSessions()).end(id);
      if (ended > 0 || id === 'all') return { ended };
      throw createRefusalError(
        'no-session',
        `There is no session ${id}. It may have ended already.`,
      );
    },
  ),
  me: defineReadOperation(
    "Show the caller's name and role, and the lowest role for reading each path",
    {},
    async ({ readableRoutes }: SessionOperationDeps, _, { caller: { person = null, role } }) => ({
      /** The name of the sign-in; null for the data folder's token. */
      name: person,
      role,
      routes: await readableRoutes(),
    }),
    { role: 'viewer', running: true },
  ),
  leave: defineChangeOperation(
    "End the caller's session",
    {},
    async ({ pageSessions }: SessionOperationDeps, _, { caller: { session } }) => {
      if (session === undefined)
        throw createRefusalError(
          'no-session',
          'You signed in with a token, so there is no session to end.',
        );
      return { ended: await (await pageSessions()).end(session) };
    },
    { role: 'viewer' },
  ),
};
