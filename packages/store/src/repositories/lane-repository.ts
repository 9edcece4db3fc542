import type { NewId } from '@parley/contracts';
import type { Database, Sql } from '../database.ts';
import type { LaneRepository } from '../lanes.ts';
import type { Lease } from '../rows.ts';
import { type Claim, claimIn, claimTurn, type LockedLane } from './claim-turn.ts';
import { commitTurn } from './commit-turn.ts';
import { ensureConversation, lockConversation, lockLeased } from './conversation.ts';
import { RUNNING, WAITING } from './literals.ts';
import type { PromptWriter } from './prompt-repository.ts';

/**
 * The lanes on SQL. Only the commit of a turn must survive a power cut: without its lease or its
 * claim a turn is simply begun again, and nobody is left who could hold the older epoch.
 */
export function laneRepository(
  database: Database,
  newId: NewId,
  prompts: PromptWriter,
): LaneRepository {
  return {
    acquire: (conversationId, owner, now, leaseMs) =>
      database.write(async (sql) => {
        const taken = await acquireLane(database, sql, { conversationId, owner, now, leaseMs });
        return taken.kind === 'busy' ? taken : { kind: 'held', lease: taken.lease };
      }, 'process'),

    begin: (work, busy, newTurnId, now) =>
      database.write(async (sql) => {
        const taken = await acquireLane(database, sql, { ...work, now });
        if (taken.kind === 'busy') return taken;
        const { lease, lane } = taken;
        // This very transaction has moved the epoch on, so nobody can have fenced it.
        const claimed = await claimIn(sql, { lease, busy, newTurnId, now }, lane);
        if (claimed.kind === 'turn') return { ...claimed, lease };
        await leaveLane(sql, lease);
        return claimed.kind === 'settling' ? claimed : { kind: 'none' };
      }, 'process'),

    renew: (leases, until) => renewLeases(database, leases, until),

    release: (lease, blameless) =>
      database.write(async (sql) => {
        if (blameless !== undefined && (await lockLeased(database, sql, lease)) !== null) {
          await uncount(sql, blameless);
        }
        await leaveLane(sql, lease);
      }, 'process'),

    newestWaiting: (conversationId) =>
      database.read(async (sql) => {
        const row = await sql
          .selectFrom('inbox')
          .select((eb) => eb.fn.max('received_at').as('newest'))
          .where('conversation_id', '=', conversationId)
          .where('state', '=', WAITING)
          .executeTakeFirst();
        return row?.newest ?? null;
      }),

    claim: (lease, busy, newTurnId, now) =>
      database.write(
        (sql) => claimOrLeave(database, sql, { lease, busy, newTurnId, now }),
        'process',
      ),
    // These two are loaded where the settings want them.
    async join(lease, joining, now) {
      const { joinTurn } = await import('./join-turn.ts');
      return database.write((sql) => joinTurn(database, sql, { lease, joining, now }));
    },
    async interrupt(lease, turnId, now) {
      const { interruptTurn } = await import('./interrupt-turn.ts');
      return database.write((sql) => interruptTurn(database, sql, { lease, turnId, now }));
    },
    async commit(lease, commit, now) {
      // Hashing takes its time, and on SQLite all others wait for a transaction.
      const prompt = commit.prompt && prompts.prepare(commit.prompt);
      const result = await database.write(async (sql) => {
        const done = await commitTurn(database, sql, { lease, commit, now, newId });
        if (done === 'committed' && prompt !== undefined) await prompts.write(sql, prompt);
        if (done === 'fenced' || commit.leaves !== true) return done;
        return (await leaveIfDone(sql, lease)) ? 'left' : 'committed';
      });
      if (result !== 'fenced' && prompt !== undefined) prompts.written(prompt);
      return result;
    },
    withWork: (now, limit) => database.read((sql) => conversationsWithWork(sql, now, limit)),

    releaseAll: () =>
      database.write(async (sql) => {
        await sql
          .updateTable('conversation')
          .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: null, lease_until: null }))
          .where('lease_owner', 'is not', null)
          .execute();
      }),
  };
}

/** Leases in one query: far below what a query may hold, far above what one worker has. */
const AT_ONCE = 200;

/**
 * A transaction that holds many leases must not wait for one more, or two of them wait in a circle: rows that
 * are locked at this moment are left out, and asked for again by the next renewal.
 */
async function renewLeases(
  database: Database,
  leases: readonly Lease[],
  until: number,
): ReturnType<LaneRepository['renew']> {
  const renewed: string[] = [];
  const busy: string[] = [];
  for (let from = 0; from < leases.length; from += AT_ONCE) {
    const some = leases.slice(from, from + AT_ONCE);
    await database.writeUrgent(async (sql) => {
      const done = await renewSome(database, sql, some, until);
      renewed.push(...done);
      const left = some.filter(({ conversationId }) => !done.includes(conversationId));
      if (database.dialect === 'postgres' && left.length > 0)
        busy.push(...(await heldOf(sql, left).execute()).map(({ id }) => id));
    });
  }
  return { renewed, busy };
}

function heldOf(sql: Sql, leases: readonly Lease[]) {
  return sql
    .selectFrom('conversation')
    .select('id')
    .where(
      'id',
      'in',
      leases.map(({ conversationId }) => conversationId),
    )
    .where('lease_owner', 'is not', null)
    .where((eb) =>
      eb.or(
        leases.map(({ conversationId, epoch }) =>
          eb.and([eb('id', '=', conversationId), eb('epoch', '=', epoch)]),
        ),
      ),
    );
}

async function renewSome(
  database: Database,
  sql: Sql,
  leases: readonly Lease[],
  until: number,
): Promise<readonly string[]> {
  const held = heldOf(sql, leases);
  const free = held.forNoKeyUpdate().skipLocked();
  const rows = await sql
    .updateTable('conversation')
    .set({ lease_until: until })
    .where('id', 'in', database.dialect === 'postgres' ? free : held)
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

interface LaneWork {
  readonly conversationId: string;
  readonly owner: string;
  readonly now: number;
  readonly leaseMs: number;
}

async function acquireLane(
  database: Database,
  sql: Sql,
  { conversationId, owner, now, leaseMs }: LaneWork,
): Promise<
  | { readonly kind: 'held'; readonly lease: Lease; readonly lane: LockedLane }
  | { readonly kind: 'busy'; readonly retryInMs: number }
> {
  const take = () => takeLease(sql, conversationId, owner, now, now + leaseMs);
  let taken = await take();
  if (taken === undefined) {
    // Held by another worker, or, which is rare, not there yet.
    ensureConversation(sql, conversationId, now);
    taken = await take();
  }
  if (taken !== undefined) {
    const { epoch, unfinished, ...lane } = taken;
    const isUnfinished = unfinished !== null;
    return { kind: 'held', lease: { conversationId, epoch }, lane: { ...lane, isUnfinished } };
  }
  const held = await lockConversation(database, sql, conversationId);
  return { kind: 'busy', retryInMs: Math.max(1, (held?.lease_until ?? now) - now) };
}

/** Looking once more and leaving are one step, so no message can come in between unseen. */
async function claimOrLeave(
  database: Database,
  sql: Sql,
  claim: Claim,
): ReturnType<LaneRepository['claim']> {
  const claimed = await claimTurn(database, sql, claim);
  if (claimed.kind === 'none' || claimed.kind === 'settling') await leaveLane(sql, claim.lease);
  return claimed;
}

async function uncount(sql: Sql, turnId: string): Promise<void> {
  await sql
    .updateTable('turn')
    .set((eb) => ({ attempts: eb('attempts', '-', 1) }))
    .where('id', '=', turnId)
    .where('state', '=', RUNNING)
    .where('attempts', '>', 0)
    .execute();
}

async function leaveLane(sql: Sql, lease: Lease): Promise<void> {
  await sql
    .updateTable('conversation')
    .set({ lease_owner: null, lease_until: null })
    .where('id', '=', lease.conversationId)
    .where('epoch', '=', lease.epoch)
    .execute();
}

/**
 * Whoever stores a message locks the conversation first, as the caller has: what is stored before this is
 * seen, and what comes after it brings its own wake-up.
 */
async function leaveIfDone(sql: Sql, { conversationId, epoch }: Lease): Promise<boolean> {
  const left = await sql
    .updateTable('conversation')
    .set({ lease_owner: null, lease_until: null })
    .where('id', '=', conversationId)
    .where('epoch', '=', epoch)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('inbox')
            .select('inbox.seq')
            .where('inbox.conversation_id', '=', conversationId)
            .where('inbox.state', '=', WAITING),
        ),
      ),
    )
    .executeTakeFirst();
  return left.numUpdatedRows > 0n;
}

/**
 * The lane with its new epoch, or undefined when another worker holds it and its lease still runs. On
 * PostgreSQL `unfinished` may name a turn that ended while this waited for the lock, so it only says where
 * to look; it cannot miss one: a lane with a turn just begun is held.
 */
function takeLease(sql: Sql, conversationId: string, owner: string, now: number, until: number) {
  return sql
    .updateTable('conversation')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: owner, lease_until: until }))
    .where('id', '=', conversationId)
    .where((eb) =>
      eb.or([
        eb('lease_until', 'is', null),
        eb('lease_until', '<=', now),
        eb('lease_owner', '=', owner),
      ]),
    )
    .returning((eb) => [
      'epoch',
      'session',
      'lease_owner',
      'mode',
      'plan',
      'plan_run',
      eb
        .selectFrom('turn')
        .select('turn.id')
        .where('turn.conversation_id', '=', conversationId)
        .where('turn.state', '=', RUNNING)
        .as('unfinished'),
    ])
    .executeTakeFirst();
}

/** The longest waiting first, so that a limit cannot hide a conversation for ever. */
async function conversationsWithWork(
  sql: Sql,
  now: number,
  limit: number,
): Promise<readonly string[]> {
  const waiting = sql
    .selectFrom('inbox')
    .select(['conversation_id', 'received_at as since'])
    .where('state', '=', WAITING)
    // They wait for the decision that a turn before them waits for.
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('turn')
            .select('turn.id')
            .whereRef('turn.conversation_id', '=', 'inbox.conversation_id')
            .where('turn.state', '=', RUNNING)
            .where('turn.awaits', 'is not', null),
        ),
      ),
    );
  const unfinished = sql
    .selectFrom('turn')
    .select(['conversation_id', 'started_at as since'])
    .where('state', '=', RUNNING)
    .where('awaits', 'is', null);
  const rows = await sql
    .selectFrom(waiting.unionAll(unfinished).as('work'))
    .innerJoin('conversation', 'conversation.id', 'work.conversation_id')
    .select('work.conversation_id')
    .where((eb) =>
      eb.or([
        eb('conversation.lease_until', 'is', null),
        eb('conversation.lease_until', '<=', now),
      ]),
    )
    .groupBy('work.conversation_id')
    .orderBy((eb) => eb.fn.min('work.since'))
    .limit(limit)
    .execute();
  return rows.map((row) => row.conversation_id);
}
