import type { BusyPolicy, CommittedParts, NewId, ReplyRoute } from '@parley/core';
import type { ClaimResult, LockedLane, TurnClaimRequest } from './claim-turn.ts';
import { claimTurn, claimTurnInLane } from './claim-turn.ts';
import { ensureConversation, lockConversation, lockLeasedConversation } from './conversations.ts';
import { type Database, defineStatement, type Sql } from './database.ts';
import type { LaneDropRequest } from './drop-waiting.ts';
import type { JoinRules } from './later-messages.ts';
import type { PromptWriter } from './prompts.ts';
import { buildPostponedCondition, type PostponedTurn, postponeTurn } from './put-off.ts';
import { renewLeases } from './renew-leases.ts';
import type { ClaimedTurn, CommitResult, Lease, TurnCommit } from './rows.ts';
import { OPEN_TOOLS_COLUMN } from './sessions.ts';
import { SHARED_NOW, type SharedClock, STATEMENT_NOW } from './shared-clock.ts';
import { buildTakenOverCondition, isTakenOver, readSharedTime } from './taken-over.ts';
import { commitTurn } from './turns.ts';

/**
 * Runs one turn at a time per conversation (D02). Every write checks the lease's epoch in the same
 * transaction, so a worker whose lease has expired can never commit.
 */
export type LaneRepository = ReturnType<typeof createLaneRepository>;

/**
 * Lease times use the clock that all processes share; the caller's `now` is only stored in the rows
 * that a call starts or ends.
 */
export function createLaneRepository(
  database: Database,
  newId: NewId,
  prompts: PromptWriter,
  sharedClock: SharedClock,
) {
  return {
    /**
     * Starts work on a lane: acquires its lease and claims a turn in one transaction, unless
     * another live worker holds the lease or a person has taken over the conversation. Acquiring
     * the lease raises the epoch. If there is no turn to claim, the lease is released immediately.
     * `busy` returns the remaining time of the other lease in ms, which is never more than
     * `leaseMs`, even if the clock was set back.
     */
    begin: (work: LaneRequest, busy: BusyPolicy, newTurnId: string, now: number) =>
      beginWork(database, work, { busy, newTurnId, now, moment: sharedClock() }),

    /**
     * Gives up a lane's waiting messages if claiming them crashes every process, and releases the
     * lane.
     */
    drop: (
      work: LaneRequest,
      dropped: { readonly turnId: string; readonly reason: string },
      now: number,
    ) => dropLane(database, work, { ...dropped, now, moment: sharedClock() }),

    /**
     * Renews leases so that they end `leaseMs` from now, even if they would otherwise have ended
     * later. Returns the renewed conversations, and those that another transaction is writing to,
     * which are neither lost nor renewed.
     */
    renew: (leases: readonly Lease[], leaseMs: number) =>
      renewLeases(database, leases, { leaseMs, moment: sharedClock() }),

    /**
     * Releases the lane; has no effect if the lease was lost. `blameless` names a turn that failed
     * only because of the database, so that this attempt is not counted.
     */
    release: (lease: Lease, blameless?: string): Promise<void> =>
      database.write(async (sql) => {
        if (blameless !== undefined && (await lockLeasedConversation(sql, lease)) !== null) {
          sql.send(UNCOUNT, { turnId: blameless });
        }
        sql.send(LEAVE, lease);
      }, 'process'),

    /**
     * When the newest waiting message was received, which determines how long to keep collecting;
     * null if no message is waiting.
     */
    newestWaiting: async (conversationId: string): Promise<number | null> =>
      (await database.read((sql) => sql.get(NEWEST_WAITING, { conversationId })))?.newest ?? null,

    /**
     * Claims the next turn: an unfinished one first (resumed, attempts + 1), otherwise the waiting
     * messages as `newTurnId`. If there is no turn to claim, the lane is released in the same
     * transaction.
     */
    claim: (lease: Lease, busy: BusyPolicy, newTurnId: string, now: number) =>
      database.write(
        (sql) => claimTurnOrReleaseLane(sql, { lease, busy, newTurnId, now }),
        'process',
      ),

    /**
     * The attempt count is synced to disk, because a turn that crashes its process may bring down
     * the machine as well. PostgreSQL has already synced it with the claim.
     */
    async syncAttempt(turnId: string): Promise<void> {
      if (database.dialect === 'sqlite') await database.change('power-cut', TOUCH, { turnId });
    },

    // The modules for `join` and `interrupt` are loaded only if the settings use them.
    /**
     * Adds waiting messages to a running turn (`steer`), together with the journal steps that
     * record this, in one fenced transaction. `none` if no message may join: the message is part of
     * an incomplete burst, its files are still being fetched, it was written after `/new` or
     * `/mode`, or its answer goes elsewhere.
     */
    async join(lease: Lease, joining: JoinRules, now: number) {
      const { joinTurn } = await import('./later-messages.ts');
      return database.write((sql) => joinTurn(sql, { lease, joining, now }));
    },
    /**
     * Ends a running turn because of what a person has written since (`interrupt`). The turn's
     * messages wait again, ahead of newer ones, and the turn cannot store anything more. If
     * messages have been interrupted three times, they are answered before any newer ones.
     */
    async interrupt(lease: Lease, turnId: string, now: number) {
      const { interruptTurn } = await import('./later-messages.ts');
      return database.write((sql) => interruptTurn(sql, { lease, turnId, now }));
    },
    /**
     * Stores a turn's transcript, outbox parts, usage, prompt and inbox rows in one fenced
     * transaction (D04). `left`: no message was waiting, and the lane was released as requested.
     * `stored` is called after the commit.
     */
    commit: (
      lease: Lease,
      commit: TurnCommit,
      now: number,
      stored?: (fresh: CommittedParts) => void,
    ) => commitLane({ database, newId, prompts }, { lease, commit, now }, stored),
    /**
     * Postpones a lane's turn, which stays unfinished and is not claimed before the given time
     * unless a person writes. `fenced` if the lease was lost or the turn is over.
     */
    putOff: (lease: Lease, putOff: PostponedTurn, now: number): Promise<CommitResult> =>
      database.write(async (sql) => {
        if ((await lockLeasedConversation(sql, lease)) === null) return 'fenced';
        const done = await postponeTurn(sql, lease.conversationId, putOff, now);
        return done ? 'committed' : 'fenced';
      }),
    /**
     * Finds conversations with waiting messages or an unfinished turn but no live lease, for the
     * sweep. A lease that ends later than `leaseMs` from now dates from before the clock was set
     * back; acquiring the lane shortens it.
     */
    async withWork(limit: number, leaseMs: number): Promise<readonly string[]> {
      const params = { limit, leaseMs, moment: sharedClock() };
      return (await database.read((sql) => sql.all(WITH_WORK, params))).map(({ id }) => id);
    },
    /** Ends every lease; only for a process with exclusive use of the data folder, at startup. */
    releaseAll: async (): Promise<void> => {
      await database.change('power-cut', RELEASE_ALL);
    },
  };
}

/** The requested lane, the worker, and the lease duration in ms. */
interface LaneRequest {
  readonly conversationId: string;
  readonly owner: string;
  readonly leaseMs: number;
}

/**
 * `taken-over`: a person has taken over the conversation (U12), so its messages and its unfinished
 * turn wait until the agent takes part again.
 */
type BeginWorkResult =
  | { kind: 'busy' | 'settling'; retryInMs: number }
  | { kind: 'none' | 'suspended' | 'taken-over' }
  | { kind: 'turn'; lease: Lease; turn: ClaimedTurn };

async function beginWork(
  database: Database,
  work: LaneRequest,
  { moment, ...claim }: Omit<TurnClaimRequest, 'lease'> & Pick<LaneWork, 'moment'>,
): Promise<BeginWorkResult> {
  return database.write(async (sql) => {
    const taken = await acquireLane(sql, { ...work, now: claim.now, moment });
    if (taken.kind !== 'held') return taken;
    const { lease, lane } = taken;
    // This transaction has just raised the epoch, so no other worker can have fenced the lease.
    const claimed = await claimTurnInLane(sql, { lease, ...claim }, lane);
    if (claimed.kind === 'turn') return { ...claimed, lease };
    sql.send(LEAVE, lease);
    return claimed.kind === 'fenced' ? { kind: 'none' } : claimed;
  }, 'process');
}

/**
 * The result of giving up a lane's messages. `route`: the newest message's route, for a notice.
 * `held`: another worker has the lane or a person has taken over the conversation, so everything
 * still waits.
 */
type DropLaneResult =
  | { readonly kind: 'dropped'; readonly route: ReplyRoute }
  | { readonly kind: 'none' | 'held' };

async function dropLane(
  database: Database,
  work: LaneRequest,
  {
    moment,
    ...dropped
  }: Pick<LaneDropRequest, 'turnId' | 'reason' | 'now'> & Pick<LaneWork, 'moment'>,
): Promise<DropLaneResult> {
  const { dropWaitingMessages } = await import('./drop-waiting.ts');
  return database.write(async (sql) => {
    const taken = await acquireLane(sql, { ...work, now: dropped.now, moment });
    if (taken.kind !== 'held') return { kind: 'held' };
    const { lease, lane } = taken;
    const route = await dropWaitingMessages(sql, { ...dropped, lease, session: lane.session });
    sql.send(LEAVE, lease);
    return route === null ? { kind: 'none' } : { kind: 'dropped', route };
  });
}

const TOUCH = defineStatement('update turn set attempts = attempts where id = :turnId');

interface CommitDeps {
  readonly database: Database;
  readonly newId: NewId;
  readonly prompts: PromptWriter;
}

async function commitLane(
  { database, newId, prompts }: CommitDeps,
  { lease, commit, now }: { lease: Lease; commit: TurnCommit; now: number },
  stored?: (fresh: CommittedParts) => void,
): Promise<CommitResult | 'left'> {
  // The prompt is hashed before the transaction, because on SQLite all other writers wait for a
  // transaction.
  const prompt = commit.prompt && prompts.prepare(commit.prompt);
  const done = await database.write(async (sql) => {
    const parts = await commitTurn(sql, { lease, commit, now, newId });
    if (parts === null) return null;
    if (prompt !== undefined) await prompts.write(sql, prompt);
    const left = commit.leaves === true && (await sql.run(LEAVE_IF_DONE, lease)) > 0;
    return { parts, left };
  });
  if (done === null) return 'fenced';
  if (prompt !== undefined) prompts.written(prompt);
  stored?.({ parts: done.parts, createdAt: now, trace: commit.trace });
  return done.left ? 'left' : 'committed';
}

interface LaneWork extends LaneRequest {
  readonly now: number;
  readonly moment: number | null;
}

async function acquireLane(
  sql: Sql,
  { conversationId, owner, now, ...length }: LaneWork,
): Promise<
  | { readonly kind: 'held'; readonly lease: Lease; readonly lane: LockedLane }
  | { readonly kind: 'busy'; readonly retryInMs: number }
  | { readonly kind: 'taken-over' }
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
  const { moment } = length;
  const locked = await lockConversation(sql, conversationId);
  const until = locked?.taken_over_until ?? null;
  if (until !== null && isTakenOver(until, await readSharedTime(sql, moment)))
    return { kind: 'taken-over' };
  return { kind: 'busy', retryInMs: await waitForLease(sql, conversationId, length) };
}

/**
 * How long to wait for another worker's lease, in ms; a lease taken before the clock was set back
 * is shortened.
 */
async function waitForLease(
  sql: Sql,
  conversationId: string,
  { leaseMs, moment }: Pick<LaneWork, 'leaseMs' | 'moment'>,
): Promise<number> {
  const leftMs = (await sql.get(LEFT, { conversationId, moment }))?.leftMs ?? 0;
  if (leftMs > leaseMs) sql.send(SHORTEN, { conversationId, moment, leaseMs });
  return Math.max(1, Math.min(leftMs, leaseMs));
}

const LEFT = defineStatement(`
  select lease_until - ${STATEMENT_NOW} as "leftMs" from conversation where id = :conversationId`).rows<{
  readonly leftMs: number | null;
}>();

const SHORTEN = defineStatement(`
  update conversation set lease_until = ${STATEMENT_NOW} + :leaseMs where id = :conversationId`);

/**
 * The last check and the release happen in one step, so that a message that arrives in between is
 * not missed.
 */
async function claimTurnOrReleaseLane(sql: Sql, claim: TurnClaimRequest): Promise<ClaimResult> {
  const claimed = await claimTurn(sql, claim);
  if (claimed.kind !== 'turn' && claimed.kind !== 'fenced') sql.send(LEAVE, claim.lease);
  return claimed;
}

const UNCOUNT = defineStatement(`
  update turn set attempts = attempts - 1 where id = :turnId and state = 'running' and attempts > 0`);

const LEAVE = defineStatement(`
  update conversation set lease_owner = null, lease_until = null
  where id = :conversationId and epoch = :epoch`);

// Storing a message also locks the conversation: messages stored earlier are visible here, and
// later ones wake the lane themselves.
const LEAVE_IF_DONE = defineStatement(`
  update conversation set lease_owner = null, lease_until = null
  where id = :conversationId and epoch = :epoch and not exists (select 1 from inbox
    where inbox.conversation_id = :conversationId and inbox.state = 'waiting')`);

/**
 * Returns the lane with its new epoch, or nothing if another worker holds a live lease or a person
 * has taken over the conversation. A takeover fences the lease holder, so claims need not check for
 * takeovers. On PostgreSQL, `unfinished` is only a hint. It may name a turn that ended while this
 * statement waited for the lock, and it misses a turn that started in the meantime, which `seen`
 * reveals.
 */
const ACQUIRE_LEASE = defineStatement(`
  update conversation set epoch = epoch + 1, lease_owner = :owner,
    lease_until = ${SHARED_NOW} + :leaseMs
  where id = :conversationId
    and (lease_until is null or lease_until <= ${SHARED_NOW} or lease_owner = :owner)
    and (taken_over_until is null or not (${buildTakenOverCondition(SHARED_NOW, 'conversation')}))
  returning epoch, session, lease_owner, mode, plan, plan_run, model, ${OPEN_TOOLS_COLUMN},
  (select turn.id from turn
    where turn.conversation_id = :conversationId and turn.state = 'running') as unfinished,
  (select before.epoch from conversation before where before.id = :conversationId) as seen`).rows<
  Omit<LockedLane, 'isUnfinished'> & {
    readonly epoch: number;
    readonly unfinished: string | null;
    /**
     * The previous epoch; on PostgreSQL, its value when the statement started, even if the
     * statement then waited for the lock.
     */
    readonly seen: number;
  }
>();

const RELEASE_ALL = defineStatement(`
  update conversation set epoch = epoch + 1, lease_owner = null, lease_until = null
  where lease_owner is not null`);

const NEWEST_WAITING = defineStatement(`
  select max(received_at) as newest from inbox
  where conversation_id = :conversationId and state = 'waiting'`).rows<{
  readonly newest: number | null;
}>();

/**
 * Lanes that have waited longest come first, so that the limit cannot hide a conversation forever.
 * Messages behind a suspended turn wait for its decision, unless they may answer its question.
 * Messages behind a postponed turn wake the lane themselves. A conversation that a person has taken
 * over is found once the takeover ends.
 */
const WITH_WORK = defineStatement(`
  select work.conversation_id as id from (
    select conversation_id, received_at as since from inbox where state = 'waiting'
      and not exists (select 1 from turn join approval on approval.code = turn.awaits
        where turn.conversation_id = inbox.conversation_id and turn.state = 'running'
        and approval.choices is null)
      and not exists (select 1 from turn where turn.conversation_id = inbox.conversation_id
        and turn.state = 'running' and ${buildPostponedCondition(SHARED_NOW)})
    union all
    select conversation_id, started_at as since from turn where state = 'running' and awaits is null
      and not (put_off_until is not null and ${buildPostponedCondition(SHARED_NOW)})
  ) work join conversation on conversation.id = work.conversation_id
  where (conversation.lease_until is null or conversation.lease_until <= ${SHARED_NOW}
      or conversation.lease_until > ${SHARED_NOW} + :leaseMs)
    and (conversation.taken_over_until is null or not (${buildTakenOverCondition(SHARED_NOW, 'conversation')}))
  group by work.conversation_id order by min(work.since) limit :limit`).rows<{
  readonly id: string;
}>();
