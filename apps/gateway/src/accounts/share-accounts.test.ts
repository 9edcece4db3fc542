import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  awaitsSuccessor,
  decideShares,
  type GatewaySeat,
  type ObservedAccount,
} from './share-accounts.ts';

/**
 * Parses `a a b -`: one character per account, a letter for the account's holder or `-` for a free
 * account. Accounts are named 1, 2, 3 …
 */
function accountsOf(holders: string): ObservedAccount[] {
  return holders.split(' ').map((holder, index) => ({
    name: `${index + 1}`,
    holder: holder === '-' ? null : holder,
    epoch: 1,
    freeForMs: 0,
  }));
}

/** Parses gateways, oldest first; `_` is a seat reserved for a successor. */
function seatsOf(gateways: string): GatewaySeat[] {
  return [...gateways].map((letter, index) =>
    letter === '_'
      ? { gateway: null, startedAt: Infinity }
      : { gateway: letter, startedAt: index + 1 },
  );
}

function decide(self: string, gateways: string, holders: string, isSettled = true): string {
  const deployment = { self, seats: seatsOf(gateways), accounts: accountsOf(holders), isSettled };
  const { take, release } = decideShares(deployment);
  return [...take.map((name) => `+${name}`), ...release.map((name) => `-${name}`)].join(' ');
}

describe('sharing accounts among gateways', () => {
  it.each([
    ['the first gateway takes all accounts', 'a', 'a', '- - -', '+1 +2 +3'],
    ['two gateways share the free accounts', 'a', 'ab', '- - - -', '+2 +4'],
    ['the newest gateway takes the first one', 'b', 'ab', '- - -', '+1 +3'],
    ['a newcomer takes nothing that is held', 'b', 'ab', 'a a a a', ''],
    ['the other gateway hands over half', 'a', 'ab', 'a a a a', '-1 -2'],
    ['one account more than the share is no surplus', 'a', 'ab', 'a a b', ''],
    ['the remainder stays with the newest gateway', 'b', 'abc', 'a a b b', ''],
    ['… and leaves the oldest', 'a', 'abc', 'a a b b', '-1'],
    ['a successor takes the accounts reserved for its seat', 'c', 'bc', '- - b b', '+1 +2'],
    ['no other gateway takes them', 'b', 'b_', '- - b b', ''],
    ['nor takes the remainder', 'b', 'b_', '- - - b b', ''],
    ['nothing is handed over while a seat waits', 'b', 'b_', 'b b b b', ''],
    ['nor while an account is free', 'a', 'ab', 'a a a -', ''],
    ['nor while an account is left by a gateway that shuts down', 'a', 'ab', 'a a a x', ''],
  ])('[D14] %s', (_what, self, gateways, holders, expected) => {
    expect(decide(self, gateways, holders)).toBe(expected);
  });

  it('[D14] does not move held accounts while gateways come and go', () => {
    expect(decide('a', 'ab', 'a a a a', false)).toBe('');
  });

  it('[D14] assigns an account to another gateway if its designated gateway does not take it', () => {
    const seats = seatsOf('ab');
    const [one] = accountsOf('-');
    if (one === undefined) throw new Error('no account');
    const take = (freeForMs: number) =>
      decideShares({ self: 'a', seats, accounts: [{ ...one, freeForMs }], isSettled: true }).take;
    expect([take(0), take(1_000)]).toEqual([[], ['1']]);
  });

  it('[D14] moves the accounts that have moved least often', () => {
    const accounts = accountsOf('a a a a').map((one, index) => ({ ...one, epoch: 9 - index }));
    const decision = decideShares({ self: 'a', seats: seatsOf('ab'), accounts, isSettled: true });
    expect(decision.release).toEqual(['4', '3']);
  });

  it.each([
    ['no newer gateways exist', 'a', 'ab', 'a a b b', true],
    ['the newer ones have their share', 'a', 'ab', 'a a b b b', true],
    ['a newer one has nothing yet', 'a', 'abc', 'a a a b b b', false],
    ['the newest itself shuts down', 'c', 'abc', 'a a a b b b', true],
  ])('[D14] a seat is kept for a successor %s', (_what, self, gateways, holders, expected) => {
    const seen = { self, seats: seatsOf(gateways), accounts: accountsOf(holders) };
    expect(awaitsSuccessor(seen)).toBe(expected);
  });
});

const STEP_MS = 1_000;
const RUNS = toRunOptions(30);
const LEASE_MS = 5_000;
const GATEWAYS = fc.integer({ min: 2, max: 5 });
const ACCOUNTS = fc.integer({ min: 1, max: 30 });
/**
 * Limits for random pauses, in ms. A gateway's view is at most a second old, and a seat is reserved
 * for five seconds.
 */
const SOON = fc.integer({ min: 1_000, max: 4_500 });
const LATE = fc.integer({ min: 1_000, max: 60_000 });

describe('a deployment', () => {
  it('[D14] distributes all accounts evenly, and stops moving accounts once gateways stop joining and leaving', () => {
    const step = fc.tuple(fc.constantFrom('start', 'stop', 'kill'), LATE, fc.nat(4));
    fc.assert(
      fc.property(ACCOUNTS, fc.array(step, { maxLength: 12 }), (accounts, steps) => {
        const deployment = new Simulated(accounts);
        deployment.start();
        for (const [what, pauseMs, which] of steps) {
          const gateway = deployment.living()[which];
          if (what === 'start') deployment.start();
          else if (gateway !== undefined && deployment.living().length > 1) {
            deployment.end(gateway, what === 'kill');
          }
          deployment.run(pauseMs);
        }
        deployment.run(LEASE_MS + 2 * STEP_MS);
        expect(deployment.shares()).not.toContain(null);
        deployment.run(3 * LEASE_MS);
        const counts = deployment.counts();
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        const settled = deployment.shares();
        deployment.run(60_000);
        expect(deployment.shares()).toEqual(settled);
      }),
      RUNS,
    );
  });

  it('[D14] serves the accounts of a killed gateway within the lease time plus two checks', () => {
    fc.assert(
      fc.property(GATEWAYS, ACCOUNTS, LATE, (gateways, accounts, at) => {
        const deployment = settled(gateways, accounts);
        deployment.run(at);
        deployment.end(deployment.living()[0] ?? '', true);
        deployment.run(LEASE_MS + 2 * STEP_MS);
        expect(deployment.shares()).not.toContain(null);
      }),
      RUNS,
    );
  });

  it.each([
    ['each successor starts soon after its predecessor has ended', 'stop first'],
    ['each predecessor ends soon after its successor has started', 'start first'],
  ] as const)('[D14] a rolling restart moves each account once when %s', (_how, order) => {
    fc.assert(
      fc.property(GATEWAYS, ACCOUNTS, pausesOf(SOON), (gateways, accounts, pauses) => {
        expect(mostMoves(order, gateways, accounts, pauses)).toBe(1);
      }),
      RUNS,
    );
  });

  it.each(['stop first', 'start first'] as const)(
    '[D14] a slow rolling restart (%s) moves each account at most as many times as there are gateways',
    (order) => {
      fc.assert(
        fc.property(GATEWAYS, ACCOUNTS, pausesOf(LATE), (gateways, accounts, pauses) => {
          expect(mostMoves(order, gateways, accounts, pauses)).toBeLessThanOrEqual(gateways);
        }),
        RUNS,
      );
    },
  );
});

/** Generates pauses between the two halves of each step, and after each step. */
function pausesOf(between: fc.Arbitrary<number>) {
  return fc.array(fc.tuple(between, LATE), { minLength: 5, maxLength: 5 });
}

function settled(gateways: number, accounts: number): Simulated {
  const deployment = new Simulated(accounts);
  for (let count = 0; count < gateways; count += 1) deployment.start();
  deployment.run(30_000);
  return deployment;
}

function mostMoves(
  order: 'stop first' | 'start first',
  gateways: number,
  accounts: number,
  pauses: readonly (readonly [number, number])[],
): number {
  const deployment = settled(gateways, accounts);
  deployment.moves.clear();
  for (const [index, old] of deployment.living().entries()) {
    const [between = 0, then = 0] = pauses[index] ?? [];
    if (order === 'stop first') deployment.end(old, false);
    else deployment.start();
    deployment.run(between);
    if (order === 'stop first') deployment.start();
    else deployment.end(old, false);
    deployment.run(then);
  }
  deployment.run(60_000);
  return Math.max(...deployment.moves.values());
}

/**
 * Simulates gateways that decide one after another on a table of leases, with realistic durations.
 */
class Simulated {
  readonly moves = new Map<string, number>();
  #now = 0;
  #started = 0;
  #changedAt = 0;
  #gateways: string[] = [];
  #seats: { gateway: string | null; startedAt: number; until: number }[] = [];
  readonly #accounts: { name: string; holder: string | null; epoch: number; until: number }[];

  constructor(accounts: number) {
    this.#accounts = Array.from({ length: accounts }, (_, index) => ({
      name: `${index}`.padStart(3, '0'),
      holder: null,
      epoch: 0,
      until: 0,
    }));
  }

  living(): readonly string[] {
    return [...this.#gateways];
  }

  shares(): readonly (string | null)[] {
    return this.#accounts.map(({ holder }) => holder);
  }

  counts(): readonly number[] {
    const shares = this.shares();
    return this.#gateways.map((gateway) => shares.filter((one) => one === gateway).length);
  }

  start(): void {
    this.#started += 1;
    const gateway = `g${this.#started}`;
    const place = this.#seats.findIndex((seat) => seat.gateway === null);
    const seat = { gateway, startedAt: this.#started, until: Infinity };
    this.#seats.splice(place === -1 ? this.#seats.length : place, place === -1 ? 0 : 1, seat);
    this.#gateways.push(gateway);
    this.#changedAt = this.#now;
  }

  end(gateway: string, isKilled: boolean): void {
    this.#gateways = this.#gateways.filter((one) => one !== gateway);
    this.#changedAt = this.#now;
    const until = this.#now + LEASE_MS;
    const isKept = !isKilled && awaitsSuccessor(this.#seen(gateway));
    for (const seat of this.#seats.filter((one) => one.gateway === gateway)) {
      seat.until = isKilled || isKept ? until : 0;
      if (!isKilled) Object.assign(seat, { gateway: null, startedAt: Infinity });
    }
    for (const account of this.#accounts.filter(({ holder }) => holder === gateway)) {
      account.until = isKilled || isKept ? until : this.#now;
      if (!isKilled) account.holder = null;
    }
  }

  run(ms: number): void {
    for (const end = this.#now + ms; this.#now < end; this.#now += STEP_MS) {
      this.#expire();
      for (const gateway of this.#gateways) this.#round(gateway);
    }
  }

  #expire(): void {
    const seats = this.#seats.length;
    this.#seats = this.#seats.filter(({ until }) => until > this.#now);
    if (this.#seats.length !== seats) this.#changedAt = this.#now;
    for (const account of this.#accounts) {
      if (account.holder !== null && account.until <= this.#now) account.holder = null;
    }
  }

  #seen(self: string) {
    const isSettled = this.#now - this.#changedAt >= LEASE_MS;
    const accounts = this.#accounts.map(({ until, ...account }) => ({
      ...account,
      freeForMs: account.holder === null ? Math.max(0, this.#now - until) : 0,
    }));
    return { self, seats: this.#seats, accounts, isSettled };
  }

  #round(self: string): void {
    const { take, release } = decideShares(this.#seen(self));
    for (const account of this.#accounts) {
      if (take.includes(account.name)) {
        if (account.holder !== null) throw new Error(`${account.name} has two holders`);
        Object.assign(account, { holder: self, epoch: account.epoch + 1, until: Infinity });
        this.moves.set(account.name, (this.moves.get(account.name) ?? 0) + 1);
      }
      if (release.includes(account.name)) {
        Object.assign(account, { holder: null, until: this.#now + (LEASE_MS * 3) / 5 });
      }
    }
  }
}
