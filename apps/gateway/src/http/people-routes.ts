import { randomBytes } from 'node:crypto';
import type { Clock, Logger } from '@parley/core';
import { ROLES, type SignInRepository } from '@parley/store';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import type { AppEnv } from './access.ts';
import type { Me, NewSignIn, ShownSignIn } from './api.ts';
import { bodyOf, senderOf, uncachedRoutes } from './api-routes.ts';
import { fingerprint, idOf, SIGN_IN_PREFIX } from './page-sessions.ts';
import { readableRoutes } from './roles.ts';

/** What the routes look at. `look` ends the streams of sign-ins that are gone. */
export interface PeopleDeps {
  readonly signIns: SignInRepository;
  readonly look: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

const Name = z
  .string()
  .trim()
  .normalize('NFC')
  .regex(/^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._-]{0,39}$/u)
  // Who has the token of the data folder is called so.
  .refine((name) => name.toLowerCase() !== 'owner');
const NewPerson = z.strictObject({ name: Name, role: z.enum(ROLES) });

const EXPECTED = `That needs a name (1 to 40 letters, digits, spaces, ".", "_" or "-"; "owner" is taken) and a role: ${ROLES.join(', ')}.`;

/** Named sign-ins, below `/api/people` (U03): whoever adds one can make an owner, so guard it. */
export function peopleRoutes({ signIns, look, clock, log }: PeopleDeps): Hono<AppEnv> {
  const app = uncachedRoutes<AppEnv>();
  app.get('/', async (c) => {
    const people = (await signIns.list()).map(
      ({ hash: _, id: __, ...shown }): ShownSignIn => shown,
    );
    return c.json({ people });
  });
  app.post('/', async (c) => {
    const person = await bodyOf(c, NewPerson);
    if (person === undefined) return c.json({ error: EXPECTED }, 400);
    const token = `${SIGN_IN_PREFIX}${randomBytes(32).toString('base64url')}`;
    const hash = fingerprint(token);
    const added = await signIns.add({
      ...person,
      ...{ id: idOf(hash), hash, createdAt: clock(), usedAt: null },
    });
    if (added !== 'added') return c.json({ error: WHY_NOT[added] }, 409);
    log.info({ ...person, by: senderOf(c) }, 'a named sign-in was added');
    return c.json({ ...person, token } satisfies NewSignIn, 201);
  });
  app.delete('/:name', async (c) => {
    const name = c.req.param('name');
    const revoked = await signIns.revoke(name);
    if (revoked === null) {
      return c.json(
        { error: `No one is called ${name}; they may have been revoked already.` },
        404,
      );
    }
    log.info({ name, by: senderOf(c) }, 'a named sign-in was revoked');
    await look();
    return c.json({ ended: revoked.sessions });
  });
  return app;
}

const WHY_NOT = {
  taken: 'That name is taken. To give another role or token, revoke it first.',
  full: 'There are 100 already. Revoke those that are not used any more.',
} as const;

/** `GET /api/me`: who asks, and what they may open. */
export function whoAmI(c: Context<AppEnv>): Response {
  const { signIn, role } = c.get('caller');
  return c.json({ name: signIn?.name ?? null, role, routes: readableRoutes() } satisfies Me);
}
