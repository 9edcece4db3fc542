import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, type Logger, type Monotonic, reasonOf } from '@parley/core';
import type { LeaseRow, NamedLease, RunningProcess, Store } from '@parley/store';
import type { AccountName, AccountRight, AccountRights } from './account-rights.ts';
import {
  isFreeLease,
  isGatewayLease,
  isOfAccount,
  isOwn,
  isSeat,
  leaseNameOf,
  seatName,
  seatNumber,
} from './lease-names.ts';
import { awaitsSuccessor, type Seat, type SeenAccount, shareAccounts } from './share-accounts.ts';

export interface LeasedRightsDeps {
  readonly store: Pick<Store, 'leases' | 'processes' | 'outbox'>;
  /** Id of this process. */
  readonly owner: string;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Logger;
  /** `LEASE_MS` when absent; tests cannot wait that long. All other times are parts of it. */
  readonly leaseMs?: number | undefined;
}

/**
 * A dead gateway's accounts are free after this, so that another one serves them within six seconds. It is also
 * how long nothing is moved after a gateway has come or gone. In ms.
 */
const LEASE_MS = 5_000;
const SETTLED_AFTER = 1;
/**
 * A gateway that ends keeps its place and its accounts for a successor for 12 s, since a start on a busy machine
 * takes that long. Without a successor, others serve the accounts within the 15 s of D13.
 */
const RESERVED_FOR = 12 / 5;
/** Two looks fit into a lease before it counts as lost, so one that fails costs nothing. */
const CHECK_SHARE = 1 / 3;
/** A query that takes longer is not waited for, so that the next one may still come in time. */
const ANSWER_WITHIN = 2 / 5;
/** A right counts as lost this much before its lease runs out: sends are ended before another gateway begins. */
const LOST_BEFORE_END = 1 / 6;
/** Accounts that are taken in one round, so that it does not keep the next renewal waiting. */
const TAKEN_AT_ONCE = 50;
/** A released account is reserved for its new gateway for so long. */
const HANDED_OVER_WITHIN = 3 / 5;
/** A gateway whose released account no other took releases none for this long. */
const REST_AFTER_REFUSAL = 120;

/**
 * Shares the accounts among the gateways of a database, each account to one gateway at a time (D09, D14). Takes
 * its place among them at once; a predecessor keeps one for it for a few seconds only.
 */
export function leasedRights(deps: LeasedRightsDeps): AccountRights {
  return new LeasedRights(deps);
}

interface Waiting {
  readonly give: (right: AccountRight) => void;
  readonly standby: (holder: string) => void;
}

interface Held {
  readonly lease: NamedLease;
  readonly lost: AbortController;
  readonly recalled: AbortController;
}

/** Rounds of looking at all leases, each of which prolongs this gateway's own and then decides about the others. */
class LeasedRights implements AccountRights {
  readonly #deps: LeasedRightsDeps;
  readonly #leaseMs: number;
  readonly #waiting = new Map<string, Waiting>();
  readonly #held = new Map<string, Held>();
  readonly #closed = new AbortController();
  #seat: NamedLease | null = null;
  #isLeaving = false;
  readonly #rounds: Promise<void>;
  #wakeUp: () => void = () => {};
  /** When everything that is held counts as lost, by either clock: one may stop, the other be set. */
  #heldUntil = { now: 0, monotonic: 0 };
  #deadline: NodeJS.Timeout | undefined;
  #released: Promise<unknown> = Promise.resolve();
  /** Places and accounts as they were in the last round. */
  #seen: { readonly seats: readonly Seat[]; readonly accounts: readonly SeenAccount[] } | undefined;
  #freeSince: ReadonlyMap<string, number> = new Map();
  #processes: ReadonlyMap<string, RunningProcess> = new Map();
  #gateways = { names: '', changedAt: 0 };
  /** Accounts that this gateway released for another one. */
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
    const lease = leaseNameOf(name);
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
    const owner = held.find((lease) => lease.name === leaseNameOf(name))?.owner;
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
        log.warn({ reason: reasonOf(error) }, 'cannot ask who serves which account');
        return this.#leaseMs * CHECK_SHARE;
      });
      const timer = new AbortController();
      await Promise.race([sleep(pauseMs, undefined, timer).catch(() => undefined), woken]);
      timer.abort();
    }
  }

  /** Returns after how long the next round is due, in ms. */
  async #round(): Promise<number> {
    const { store, clock, monotonic, owner } = this.#deps;
    const [at, since] = [clock(), monotonic()];
    const names = [...this.#held.keys(), ...(this.#seat === null ? [] : [this.#seat.name])];
    const rows = await this.#inTime(store.leases.renewAll(owner, names, this.#leaseMs));
    this.#countDown(at, since);
    for (const [name, { lease }] of this.#held) {
      if (names.includes(name) && !isOwn(rows, lease, owner)) this.#lose(name);
    }
    if (this.#seat !== null && !isOwn(rows, this.#seat, owner)) this.#seat = null;
    await this.#shorten(rows);
    if (!this.#isLeaving) await this.#share(rows);
    return this.#nextRoundIn(rows);
  }

  /** The lease of a dead gateway from before the database's clock was set back: no account waits for that clock. */
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
    const seats = this.#seats(rows);
    const accounts = this.#accounts(rows);
    this.#seen = { seats, accounts };
    const deployment = { self, seats, accounts, isSettled: this.#isSettled(seats) };
    const { take, release } = shareAccounts(deployment);
    await Promise.all(take.slice(0, TAKEN_AT_ONCE).map((name) => this.#take(name)));
    if (take.length > TAKEN_AT_ONCE) this.#wakeUp();
    for (const name of release) {
      this.#transferring.add(name);
      this.#held.get(name)?.recalled.abort();
    }
    this.#notify(accounts);
  }

  /** The places of living gateways, and those that wait for a successor. */
  #seats(rows: readonly LeaseRow[]): readonly Seat[] {
    const { owner: self } = this.#deps;
    const isCurrent = ({ name, leftMs }: LeaseRow): boolean =>
      isSeat(name) && name !== this.#seat?.name && (leftMs ?? 0) > 0;
    const owners = rows.filter(isCurrent).map(({ owner }) => owner);
    const living = new Set(owners.filter((owner) => owner !== null));
    if (this.#seat === null) living.delete(self);
    else living.add(self);
    const startOf = (id: string): number => this.#processes.get(id)?.startedAt ?? Infinity;
    return [
      ...[...living].map((gateway) => ({ gateway, startedAt: startOf(gateway) })),
      ...owners
        .filter((owner) => owner === null)
        .map((gateway) => ({ gateway, startedAt: Infinity })),
    ];
  }

  /** The place of a predecessor if there is one, else any that is free, else a new one. */
  async #takeSeat(rows: readonly LeaseRow[]): Promise<void> {
    const places = rows.filter(({ name }) => isSeat(name));
    const free = places.filter(isFreeLease);
    const reservedFirst = free.toSorted((one, other) => (other.leftMs ?? 0) - (one.leftMs ?? 0));
    const next = places.reduce((most, { name }) => Math.max(most, seatNumber(name)), 0) + 1;
    for (const name of [...reservedFirst.map((row) => row.name), seatName(next)]) {
      this.#seat = await this.#acquire(name);
      if (this.#seat !== null && this.#isLeaving) this.leave();
      if (this.#seat !== null || this.#isLeaving) return;
    }
  }

  /** All accounts that are served, and the free ones that this gateway could serve. */
  #accounts(rows: readonly LeaseRow[]): readonly SeenAccount[] {
    const now = this.#deps.monotonic();
    const since = new Map<string, number>();
    const known = new Map(rows.map((row) => [row.name, row]));
    const held = rows.filter((row) => isOfAccount(row.name) && !isFreeLease(row));
    const names = new Set([...held.map(({ name }) => name), ...this.#waiting.keys()]);
    const accounts = [...names].map((name) => {
      const row = known.get(name);
      const epoch = row?.epoch ?? 0;
      if (row !== undefined && !isFreeLease(row)) {
        return { name, holder: row.owner, epoch, freeForMs: 0 };
      }
      const isReserved = (row?.leftMs ?? 0) > 0;
      if (!isReserved) since.set(name, this.#freeSince.get(name) ?? now);
      return { name, holder: null, epoch, freeForMs: now - (since.get(name) ?? now) };
    });
    this.#freeSince = since;
    return accounts;
  }

  #isSettled(seats: readonly Seat[]): boolean {
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
      this.#deps.log.warn({ lease: name }, 'no other gateway took this account over');
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
      log.warn({ lease: lease.name, reason: reasonOf(error) }, 'others must wait for this lease');
    });
  }

  /** Everything that is held is lost unless it is prolonged again in time, whether the database answers or not. */
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

  /** Reads who the others are, when there is one that is not known yet. */
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

  #notify(accounts: readonly SeenAccount[]): void {
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

  /** A round comes at the very moment at which something that is waited for runs out. */
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
