import { change, type Role, read, refusal } from '@parley/core';
import { z } from 'zod';
import type { PageSessions } from './http/page-sessions.ts';

interface SessionNeeds {
  pageSessions(): Promise<Pick<PageSessions, 'list' | 'end'>>;
  /** The least role for reading each path; one that is not in it is for owners alone. */
  readableRoutes(): Promise<Readonly<Record<string, Role>>>;
}

/** Browsers that are signed in to the page (U03). */
export const operations = {
  list: read('Browsers that are signed in', {}, async (needs: SessionNeeds, _, { caller }) => {
    const stored = await (await needs.pageSessions()).list();
    return {
      sessions: stored.map(({ hash: _hash, openedWith: _opener, signIn, ...facts }) => ({
        ...facts,
        /** Null: it was opened with the token of the data folder. */
        person: signIn?.name ?? null,
        /** It is the one that asks. */
        isCurrent: facts.id === caller.session,
      })),
    };
  }),
  end: change(
    'Sign a browser out, or with the id `all` all of them, at once',
    { id: z.string() },
    async ({ pageSessions }: SessionNeeds, { id }) => {
      const ended = await (await pageSessions()).end(id);
      if (ended > 0 || id === 'all') return { ended };
      throw refusal('no-session', `There is no session ${id}; it may have ended already.`);
    },
  ),
  me: read(
    'The name and role of the caller, and the least role for reading each path',
    {},
    async ({ readableRoutes }: SessionNeeds, _, { caller: { person = null, role } }) => ({
      /** Null: the token of the data folder. */
      name: person,
      role,
      routes: await readableRoutes(),
    }),
    { role: 'viewer', running: true },
  ),
  leave: change(
    'End the session that asks',
    {},
    async ({ pageSessions }: SessionNeeds, _, { caller: { session } }) => {
      if (session === undefined) throw refusal('no-session', 'A token asks, and no session.');
      return { ended: await (await pageSessions()).end(session) };
    },
    { role: 'viewer' },
  ),
};
