import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, type Logger, type Monotonic, reasonOf } from '@parley/core';
import type { LeaseRow, NamedLease, RunningProcess, Store } from '@parley/store';
import type { AccountName, AccountRight, AccountRights } from './account-rights.ts';
import {
  formatSeatName,
  isFreeLease,
  isGatewayLease,
  isOwnLease,
  isSeatName,
  parseSeatNumber,
  toLeaseName,
} from './lease-names.ts';
import { listAccounts, listSeats } from './read-leases.ts';
import {
  awaitsSuccessor,
  decideShares,
  type GatewaySeat,
  type ObservedAccount,
} from './share-accounts.ts';

export interface LeasedRightsDeps {
  readonly store: Pick<Store, 'leases' | 'processes' | 'outbox'>;
  readonly owner: string;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Logger;
  /** The lease time (ms), `LEASE_MS` by default. All other durations are fractions of it. */
  readonly leaseMs?: number | undefined;
}

/**
 * The time (ms) after which a dead gateway's accounts are free, so that another gateway serves them
 * within six seconds. For the same time after a gateway has joined or left, accounts do not move.
 */
const LEASE_MS = 5_000;
const SETTLED_AFTER = 1;
/**
 * A gateway that shuts down reserves its seat and accounts for a successor for 12 s, because a
 * start may take that long on a busy machine. If there is no successor, the other gateways serve
 * the accounts within the 15 s required by D13.
 */
const RESERVED_FOR = 12 / 5;
/**
 * The check interval as a share of the lease. Two checks fit into a lease before it counts as lost,
 * so a single failed check has no effect.
 */
const CHECK_SHARE = 1 / 3;
/**
 * The query timeout as a share of the lease. A slower query is abandoned, so that the next query
 * may still be in time.
 */
const ANSWER_WITHIN = 2 / 5;
/**
 * A right counts as lost this long (share of the lease) before its lease expires, so that sends end
 * before another gateway starts sending.
 */
const LOST_BEFORE_END = 1 / 6;
/**
 * The maximum number of accounts acquired in one round, so that the next renewal is not delayed.
 */
const TAKEN_AT_ONCE = 50;
/** How long (share of the lease) a released account stays reserved for its new gateway. */
const HANDED_OVER_WITHIN = 3 / 5;
/**
 * How long (in leases) a gateway stops releasing accounts after it released one that no other
 * gateway took.
 */
const REST_AFTER_REFUSAL = 120;

/**
 * Shares the accounts in a database among its gateways. Each account is served by one gateway at a
 * time (D09, D14). The gateway takes a seat immediately, because a predecessor's seat is reserved
 * for only a few seconds.
 */
export function createLeasedRights(deps: LeasedRightsDeps): AccountRights {
  return new LeasedRights(deps);
}

interface WaitingAccount {
  readonly give: (right: AccountRight) => void;
  readonly standby: (holder: string) => void;
}

interface HeldAccount {
  readonly lease: NamedLease;
  readonly lost: AbortController;
  readonly recalled: AbortController;
}

/** Checks all leases in rounds, each of which first renews this gateway's own leases. */
class LeasedRights implements AccountRights {
  readonly #deps: LeasedRightsDeps;
  readonly #leaseMs: number;
  readonly #waiting = new Map<string, WaitingAccount>();
  readonly #held = new Map<string, HeldAccount>();
  readonly #closed = new AbortController();
  #seat: NamedLease | null = null;
  #isLeaving = false;
  readonly #rounds: Promise<void>;
  #wakeUp: () => void = () => {};
  /**
   * The time at which all held rights count as lost, on two clocks: the monotonic clock may stop,
   * and the wall clock may be changed.
   */
  #heldUntil = { now: 0, monotonic: 0 };
  #deadline: NodeJS.Timeout | undefined;
  #released: Promise<unknown> = Promise.resolve();
  /** The seats and accounts found in the last round. */
  #seen:
    | { readonly seats: readonly GatewaySeat[]; readonly accounts: readonly ObservedAccount[] }
    | undefined;
  #freeSince: ReadonlyMap<string, number> = new Map();
  #processes: ReadonlyMap<string, RunningProcess> = new Map();
  #gateways = { names: '', changedAt: 0 };
  /** Accounts that this gateway has released so that another gateway can take them. */
  readonly #transferring = new Set<string>();
  #restsUntil = 0;
  #reservedMs: number | undefined;

  constructor(deps: LeasedRightsDeps) {
    this.#deps = deps;
    this.#leaseMs = deps.leaseMs ?? LEASE_MS;
    this.#rounds = this.#run();
  }

  async obtain(
    name: AccountName,
    standby: (holder: string) => void,
    signal: AbortSignal,
  ): Promise<AccountRight | null> {
    if (signal.aborted) return null;
    const lease = toLeaseName(name);
    const { promise, resolve } = Promise.withResolvers<AccountRight | null>();
    const giveUp = (): void => {
      this.#waiting.delete(lease);
      resolve(null);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting.set(lease, { give: resolve, standby });
    this.#wakeUp();
    return promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  async holder(name: AccountName): Promise<RunningProcess | null> {
    const { store } = this.#deps;
    const held = await store.leases.held();
    const owner = held.find((lease) => lease.name === toLeaseName(name))?.owner;
    const processes = await store.processes.list();
    return processes.find(({ id }) => id === owner) ?? null;
  }

  leave(): void {
    const { owner } = this.#deps;
    this.#isLeaving = true;
    if (this.#seen !== undefined && awaitsSuccessor({ self: owner, ...this.#seen })) {
      this.#reservedMs = this.#leaseMs * RESERVED_FOR;
    }
    if (this.#seat !== null) this.#released = this.#release(this.#seat);
    this.#seat = null;
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#wakeUp();
    await this.#rounds;
    await this.#released;
    clearTimeout(this.#deadline);
  }

  async #run(): Promise<void> {
    const { log } = this.#deps;
    while (!this.#closed.signal.aborted) {
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      this.#wakeUp = resolve;
      const pauseMs = await this.#round().catch((error: unknown) => {
        log.warn({ reason: reasonOf(error) }, 'cannot find out which gateway serves which account');
        return this.#leaseMs * CHECK_SHARE;
      });
      const timer = new AbortController();
      await Promise.race([sleep(pauseMs, undefined, timer).catch(() => undefined), woken]);
      timer.abort();
    }
  }

  /** Runs one round and returns the delay (ms) before the next round. */
  async #round(): Promise<number> {
    const { store, clock, monotonic, owner } = this.#deps;
    const [at, since] = [clock(), monotonic()];
    const names = [...this.#held.keys(), ...(this.#seat === null ? [] : [this.#seat.name])];
    const rows = await this.#inTime(store.leases.renewAll(owner, names, this.#leaseMs));
    this.#countDown(at, since);
    for (const [name, { lease }] of this.#held) {
      if (names.includes(name) && !isOwnLease(rows, lease, owner)) this.#lose(name);
    }
    if (this.#seat !== null && !isOwnLease(rows, this.#seat, owner)) this.#seat = null;
    await this.#shorten(rows);
    if (!this.#isLeaving) await this.#share(rows);
    return this.#nextRoundIn(rows);
  }

  /**
   * Shortens leases that a dead gateway wrote before the database's clock was set back. Without
   * this, a dead gateway's accounts would stay leased until the database's clock catches up.
   */
  async #shorten(rows: readonly LeaseRow[]): Promise<void> {
    const tooLong = rows.filter(({ name, owner, leftMs }) => {
      const longest = owner === null ? this.#leaseMs * RESERVED_FOR : this.#leaseMs;
      return isGatewayLease(name) && (leftMs ?? 0) > longest;
    });
    if (tooLong.length === 0) return;
    const names = tooLong.map(({ name }) => name);
    await this.#inTime(this.#deps.store.leases.shorten(names, this.#leaseMs));
  }

  async #share(rows: readonly LeaseRow[]): Promise<void> {
    const { owner: self } = this.#deps;
    await this.#learnProcesses(rows);
    if (this.#seat === null && !this.#isLeaving) await this.#takeSeat(rows);
    if (this.#seat === null) return;
    const seats = listSeats(rows, { self, seat: this.#seat, processes: this.#processes });
    const now = this.#deps.monotonic();
    const waiting = this.#waiting.keys();
    const { accounts, freeSince } = listAccounts(rows, {
      waiting,
      freeSince: this.#freeSince,
      now,
    });
    this.#freeSince = freeSince;
    this.#seen = { seats, accounts };
    const deployment = { self, seats, accounts, isSettled: this.#isSettled(seats) };
    const { take, release } = decideShares(deployment);
    await Promise.all(take.slice(0, TAKEN_AT_ONCE).map((name) => this.#take(name)));
    if (take.length > TAKEN_AT_ONCE) this.#wakeUp();
    for (const name of release) {
      this.#transferring.add(name);
      this.#held.get(name)?.recalled.abort();
    }
    this.#notify(accounts);
  }

  /**
   * Takes the seat of a predecessor if there is one, otherwise a free seat, otherwise a new one.
   */
  async #takeSeat(rows: readonly LeaseRow[]): Promise<void> {
    const places = rows.filter(({ name }) => isSeatName(name));
    const free = places.filter(isFreeLease);
    const reservedFirst = free.toSorted((one, other) => (other.leftMs ?? 0) - (one.leftMs ?? 0));
    const next = places.reduce((most, { name }) => Math.max(most, parseSeatNumber(name)), 0) + 1;
    for (const name of [...reservedFirst.map((row) => row.name), formatSeatName(next)]) {
      this.#seat = await this.#acquire(name);
      if (this.#seat !== null && this.#isLeaving) this.leave();
      if (this.#seat !== null || this.#isLeaving) return;
    }
  }

  #isSettled(seats: readonly GatewaySeat[]): boolean {
    const now = this.#deps.monotonic();
    const names = seats.map(({ gateway }) => gateway ?? '').toSorted();
    const joined = names.join();
    if (joined !== this.#gateways.names) {
      this.#gateways = { names: joined, changedAt: now };
      this.#transferring.clear();
      this.#restsUntil = 0;
    }
    const settledAt = this.#gateways.changedAt + this.#leaseMs * SETTLED_AFTER;
    return now >= settledAt && now >= this.#restsUntil;
  }

  async #take(name: string): Promise<void> {
    const lease = await this.#acquire(name);
    if (lease === null) return;
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) return this.#release(lease);
    this.#waiting.delete(name);
    if (this.#transferring.delete(name)) {
      this.#deps.log.warn({ lease: name }, 'no other gateway took over this account');
      this.#restsUntil = this.#deps.monotonic() + this.#leaseMs * REST_AFTER_REFUSAL;
    }
    const held = { lease, lost: new AbortController(), recalled: new AbortController() };
    this.#held.set(name, held);
    waiting.give({
      lost: held.lost.signal,
      recalled: held.recalled.signal,
      isHeld: () => {
        if (this.#leftMs() <= 0) this.#loseAll();
        return this.#held.get(name) === held;
      },
      lease,
      outbox: this.#deps.store.outbox.under(lease),
      isShared: true,
      release: async () => {
        if (this.#held.get(name) === held) this.#held.delete(name);
        await this.#release(lease, held.recalled.signal.aborted);
      },
    });
  }

  async #acquire(name: string): Promise<NamedLease | null> {
    const { store, owner } = this.#deps;
    const asked = await this.#inTime(store.leases.acquire(name, owner, this.#leaseMs));
    return asked.kind === 'held' ? asked.lease : null;
  }

  async #release(lease: NamedLease, isTransferred = false): Promise<void> {
    const { store, log } = this.#deps;
    const reservedMs = this.#isLeaving
      ? this.#reservedMs
      : isTransferred
        ? this.#leaseMs * HANDED_OVER_WITHIN
        : undefined;
    await this.#inTime(store.leases.release(lease, reservedMs)).catch((error: unknown) => {
      log.warn(
        { lease: lease.name, reason: reasonOf(error) },
        'another process holds this lease longer than expected',
      );
    });
  }

  /**
   * Schedules the loss of all held rights in case they are not renewed in time, even if the
   * database does not respond.
   */
  #countDown(at: number, since: number): void {
    clearTimeout(this.#deadline);
    const ms = this.#leaseMs * (1 - LOST_BEFORE_END);
    this.#heldUntil = { now: at + ms, monotonic: since + ms };
    this.#deadline = setTimeout(() => this.#loseAll(), Math.max(0, this.#leftMs()));
  }

  #leftMs(): number {
    const { now, monotonic } = this.#heldUntil;
    return Math.min(now - this.#deps.clock(), monotonic - this.#deps.monotonic());
  }

  #loseAll(): void {
    this.#seat = null;
    for (const name of this.#held.keys()) this.#lose(name);
  }

  #lose(name: string): void {
    const held = this.#held.get(name);
    this.#held.delete(name);
    this.#deps.log.warn({ lease: name }, 'another gateway may serve this account now');
    held?.lost.abort();
  }

  /** Looks up the running processes when an unknown process holds a lease. */
  async #learnProcesses(rows: readonly LeaseRow[]): Promise<void> {
    const { store, owner: self } = this.#deps;
    const shown = rows.filter(({ name }) => isGatewayLease(name));
    const ids = new Set([
      self,
      ...shown.flatMap((row) => (isFreeLease(row) ? [] : (row.owner ?? []))),
    ]);
    if ([...ids].every((id) => this.#processes.has(id))) return;
    const listed = await this.#inTime(store.processes.list());
    const known = [...this.#processes.values(), ...listed].filter(({ id }) => ids.has(id));
    this.#processes = new Map(known.map((process) => [process.id, process]));
  }

  #notify(accounts: readonly ObservedAccount[]): void {
    for (const { name, holder } of accounts) {
      if (holder === null || holder === this.#deps.owner) continue;
      this.#transferring.delete(name);
      const process = this.#processes.get(holder);
      const holderText =
        process === undefined
          ? 'another gateway'
          : `the gateway on ${process.host} (${process.pid})`;
      this.#waiting.get(name)?.standby(holderText);
    }
  }

  /** If this gateway waits for a lease, the next round runs exactly when the lease expires. */
  #nextRoundIn(rows: readonly LeaseRow[]): number {
    const ends = rows
      .filter(({ name }) => this.#waiting.has(name))
      .flatMap(({ leftMs }) => (leftMs !== null && leftMs > 0 ? [leftMs] : []));
    return Math.max(10, Math.min(this.#leaseMs * CHECK_SHARE, ...ends));
  }

  async #inTime<T>(query: Promise<T>): Promise<T> {
    const timer = new AbortController();
    const ms = this.#leaseMs * ANSWER_WITHIN;
    const late = sleep(ms, undefined, timer).then(() => {
      throw new Error(`the database has not answered for ${ms} ms`);
    });
    return Promise.race([query, late]).finally(() => {
      late.catch(() => undefined);
      timer.abort();
    });
  }
}
