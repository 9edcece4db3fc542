import { randomBytes } from 'node:crypto';
import {
  type Clock,
  createRefusalError,
  defineChangeOperation,
  defineReadOperation,
  type Logger,
  ROLES,
} from '@parley/core';
import type { Store } from '@parley/store';
import { z } from 'zod';
import {
  fingerprintSecret,
  type PageSessions,
  SIGN_IN_PREFIX,
  toSessionId,
} from './http/page-sessions.ts';

interface PeopleOperationDeps {
  readonly store: Pick<Store, 'signIns'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** `look` ends the streams of sign-ins that no longer exist. */
  pageSessions(): Promise<Pick<PageSessions, 'look'>>;
}

const NAME_NEEDED =
  'a sign-in needs a name of 1 to 40 letters, digits, spaces, ".", "_" or "-"; "owner" is reserved.';
const Name = z
  .string()
  .trim()
  .normalize('NFC')
  .regex(/^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._-]{0,39}$/u, NAME_NEEDED)
  // The name "owner" is reserved for whoever has the data folder's token.
  .refine((name) => name.toLowerCase() !== 'owner', NAME_NEEDED);

const WHY_NOT = {
  taken: 'That name is taken. To change the role or token of that sign-in, revoke it first.',
  full: 'There are already 100 sign-ins. Revoke some that are no longer used.',
} as const;

/**
 * Operations on named sign-ins (U03). Sign-in operations are for owners only, because a caller who
 * can add a sign-in can make anyone an owner.
 */
export const operations = {
  list: defineReadOperation(
    'List the people who have their own sign-in',
    {},
    async ({ store }: PeopleOperationDeps) => ({
      people: (await store.signIns.list()).map(({ hash: _, id: __, ...shown }) => shown),
    }),
  ),
  add: defineChangeOperation(
    'Add a sign-in; its token is shown only in this response',
    { name: Name, role: z.enum(ROLES) },
    async ({ store, clock, log }: PeopleOperationDeps, person, { caller }) => {
      const token = `${SIGN_IN_PREFIX}${randomBytes(32).toString('base64url')}`;
      const hash = fingerprintSecret(token);
      const stored = { id: toSessionId(hash), hash, createdAt: clock(), usedAt: null };
      const added = await store.signIns.add({ ...person, ...stored });
      if (added !== 'added') throw createRefusalError('not-added', WHY_NOT[added]);
      log.info({ ...person, by: caller.name }, 'a named sign-in was added');
      return { ...person, token };
    },
  ),
  revoke: defineChangeOperation(
    'Revoke a sign-in and end its sessions immediately',
    { name: z.string() },
    async ({ store, log, pageSessions }: PeopleOperationDeps, { name }, { caller }) => {
      const revoked = await store.signIns.revoke(name);
      if (revoked === null) {
        throw createRefusalError(
          'no-sign-in',
          `There is no sign-in named ${name}. It may have been revoked already.`,
        );
      }
      log.info({ name, by: caller.name }, 'a named sign-in was revoked');
      await (await pageSessions()).look();
      return { ended: revoked.sessions };
    },
  ),
};
