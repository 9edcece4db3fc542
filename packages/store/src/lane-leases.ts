import type { LockedLane } from './claim-turn.ts';
import { ensureConversation, lockConversation } from './conversations.ts';
import { type Database, jsonItem, type Sql, statement, toJson } from './database.ts';
import type { Lease } from './rows.ts';
import { SHARED_NOW, STATEMENT_NOW } from './shared-clock.ts';

/** The requested lane, the worker, and the length of the lease in ms. */
export interface LaneRequest {
  readonly conversationId: string;
  readonly owner: string;
  readonly leaseMs: number;
}

export interface LaneWork extends LaneRequest {
  readonly now: number;
  readonly moment: number | null;
}

export async function acquireLane(
  sql: Sql,
  { conversationId, owner, now, ...length }: LaneWork,
): Promise<
  | { readonly kind: 'held'; readonly lease: Lease; readonly lane: LockedLane }
  | { readonly kind: 'busy'; readonly retryInMs: number }
> {
  const take = () => sql.get(ACQUIRE_LEASE, { conversationId, owner, ...length });
  let taken = await take();
  if (taken === undefined) {
    // Either another worker holds the lane or, rarely, the conversation does not exist yet.
    ensureConversation(sql, conversationId, now);
    taken = await take();
  }
  // Another worker started a turn while this one waited for the lock, so `unfinished` is outdated.
  if (taken !== undefined && taken.seen < taken.epoch - 1) taken = await take();
  if (taken !== undefined) {
    const { epoch, unfinished, seen: _, ...lane } = taken;
    const isUnfinished = unfinished !== null;
    return { kind: 'held', lease: { conversationId, epoch }, lane: { ...lane, isUnfinished } };
  }
  return { kind: 'busy', retryInMs: await waitForLease(sql, conversationId, length) };
}

/**
 * Returns the lane with its new epoch, or nothing if another worker holds it with a live lease. On
 * PostgreSQL, `unfinished` may name a turn that ended while this waited for the lock, so it is only
 * a hint; it misses a turn that was started meanwhile, which `seen` reveals.
 */
const ACQUIRE_LEASE = statement(`
  update conversation set epoch = epoch + 1, lease_owner = :owner,
    lease_until = ${SHARED_NOW} + :leaseMs
  where id = :conversationId
    and (lease_until is null or lease_until <= ${SHARED_NOW} or lease_owner = :owner)
  returning epoch, session, lease_owner, mode, plan, plan_run, model, taken_over_until, (select turn.id from turn
    where turn.conversation_id = :conversationId and turn.state = 'running') as unfinished,
  (select before.epoch from conversation before where before.id = :conversationId) as seen`).rows<
  Omit<LockedLane, 'isUnfinished'> & {
    readonly epoch: number;
    readonly unfinished: string | null;
    /**
     * The previous epoch; on PostgreSQL, its value when the statement started, even if it then
     * waited for the lock.
     */
    readonly seen: number;
  }
>();

/**
 * How long to wait for another worker's lease, in ms. A lease from before the clock was set back is
 * shortened.
 */
async function waitForLease(
  sql: Sql,
  conversationId: string,
  { leaseMs, moment }: Pick<LaneWork, 'leaseMs' | 'moment'>,
): Promise<number> {
  await lockConversation(sql, conversationId);
  const leftMs = (await sql.get(LEFT, { conversationId, moment }))?.leftMs ?? 0;
  if (leftMs > leaseMs) sql.send(SHORTEN, { conversationId, moment, leaseMs });
  return Math.max(1, Math.min(leftMs, leaseMs));
}

const LEFT = statement(`
  select lease_until - ${STATEMENT_NOW} as "leftMs" from conversation where id = :conversationId`).rows<{
  readonly leftMs: number | null;
}>();

const SHORTEN = statement(`
  update conversation set lease_until = ${STATEMENT_NOW} + :leaseMs where id = :conversationId`);

/** Leases per query: far below the limit of a query, far above what one worker holds. */
const AT_ONCE = 200;

/**
 * A transaction that holds many leases must not wait for another one, or two of them could
 * deadlock. Rows that are locked at this moment are skipped and renewed next time.
 */
export async function renewLeases(
  database: Database,
  leases: readonly Lease[],
  length: { readonly leaseMs: number; readonly moment: number | null },
): Promise<{ readonly renewed: readonly string[]; readonly busy: readonly string[] }> {
  const renewed: string[] = [];
  const busy: string[] = [];
  for (let from = 0; from < leases.length; from += AT_ONCE) {
    const some = leases.slice(from, from + AT_ONCE);
    const held = toJson(some.map(({ conversationId, epoch }) => [conversationId, epoch]));
    await database.writePriority(async (sql) => {
      const done = (await sql.all(RENEW, { held, ...length })).map(({ id }) => id);
      renewed.push(...done);
      if (database.dialect === 'sqlite' || done.length === some.length) return;
      const all = await sql.all(HELD, { held });
      busy.push(...all.flatMap(({ id }) => (done.includes(id) ? [] : [id])));
    });
  }
  return { renewed, busy };
}

const HELD_BY = `
  select id from conversation where lease_owner is not null and (id, epoch) in (
    select ${jsonItem(0)}, cast(${jsonItem(1)} as bigint) from json_each(:held))` as const;

const HELD = statement(HELD_BY).rows<{ readonly id: string }>();

const RENEW = statement(`
  update conversation set lease_until = ${SHARED_NOW} + :leaseMs
  where id in (${HELD_BY} /*pg for no key update skip locked*/) returning id`).rows<{
  readonly id: string;
}>();

export const LEAVE = statement(`
  update conversation set lease_owner = null, lease_until = null
  where id = :conversationId and epoch = :epoch`);

// The caller has locked the conversation, and storing a message locks it too: messages stored
// before are seen here, and later ones bring their own wake-up.
export const LEAVE_IF_DONE = statement(`
  update conversation set lease_owner = null, lease_until = null
  where id = :conversationId and epoch = :epoch and not exists (select 1 from inbox
    where inbox.conversation_id = :conversationId and inbox.state = 'waiting')`);

export const RELEASE_ALL = statement(`
  update conversation set epoch = epoch + 1, lease_owner = null, lease_until = null
  where lease_owner is not null`);
