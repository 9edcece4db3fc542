import type { TraceStep } from '../changes.ts';
import type { Simulation } from '../simulation.ts';
import type { AdapterLife } from '../world/attempts.ts';
import type { Platform } from '../world/platform.ts';
import type { MakeInvariant } from './invariant.ts';

/**
 * One holder of an account and the time it took over. `until` is in ms since 1970 by the database's
 * clock.
 */
interface AccountHold {
  readonly at: number;
  readonly holder: string | null;
  readonly until: number;
}

const ACCOUNT = 'account:';

/**
 * Maps the owners in the table of leases to simulated processes, since a process takes a lease in
 * its own event.
 */
export class AccountHolders {
  readonly #process = new Map<string, string>();
  readonly #holds = new Map<string, AccountHold[]>();

  note(step: TraceStep): void {
    const changed = step.changes.filter((change) => change.kind === 'lease');
    // The first query may see leases taken by several processes.
    const isFirst = this.#holds.size === 0;
    for (const { name, holder, until } of changed) {
      const holds = this.#holds.get(name) ?? [];
      this.#holds.set(name, holds);
      holds.push({ holder, until, at: step.at });
      if (holder !== null && !isFirst && !this.#process.has(holder))
        this.#process.set(holder, step.process);
    }
  }

  get isEmpty(): boolean {
    return ![...this.#holds.keys()].some((name) => name.startsWith(ACCOUNT));
  }

  /** The process that had an account at a moment. `wall` is that moment by the database's clock. */
  at(account: string, at: number, wall: number): string | 'nobody' | 'not known yet' {
    const hold = this.#holds.get(ACCOUNT + account)?.findLast((one) => one.at <= at);
    if (hold?.holder == null || hold.until <= wall) return 'nobody';
    return this.#process.get(hold.holder) ?? 'not known yet';
  }
}

/**
 * How long a previous holder may still poll before it notices its pause, in ms of its own running
 * time.
 */
const POLLS_AFTER_MS = 2_000;

/**
 * An account is served by one gateway at a time: no other gateway sends or shows messages for it
 * (D14).
 */
export const oneGatewaySends: MakeInvariant = () => {
  const holders = new AccountHolders();
  const seen = new Map<Platform, number>();
  const polledSince = new Map<AdapterLife, number>();
  return {
    id: 'D14',
    afterStep: (step, simulation) => {
      holders.note(step);
      if (holders.isEmpty) return [];
      return [...simulation.platforms.values()].flatMap((platform) => {
        const { touches } = platform.attempts;
        const from = seen.get(platform) ?? 0;
        seen.set(platform, touches.length);
        return touches.slice(from).flatMap(({ what, life, at: when }) => {
          const account = `${platform.kind.id}/${life.account}`;
          const holder = holders.at(account, when, simulation.databaseTime(when));
          if (holder === life.process || holder === 'not known yet') {
            polledSince.delete(life);
            return [];
          }
          const wrong = `${life.process} did a ${what} as ${account}, which ${holder} had`;
          if (what !== 'poll') return [wrong];
          const paused = simulation.pausedUntil(life.process);
          const since = Math.max(polledSince.get(life) ?? when, paused);
          polledSince.set(life, since);
          return when - since > POLLS_AFTER_MS ? [wrong] : [];
        });
      });
    },
  };
};

/** No process marks a part as sending while another process has its account (D09, D14). */
export const onlyHoldersMark: MakeInvariant = () => {
  const holders = new AccountHolders();
  return {
    id: 'D09',
    afterStep: (step, { databaseTime }) => {
      const before = step.changes.flatMap((change) => {
        if (change.kind !== 'part' || change.to !== 'sending') return [];
        const [channel, account] = change.chat.split(':');
        const holder = holders.at(`${channel}/${account}`, step.at, databaseTime(step.at));
        if ([step.process, 'nobody', 'not known yet'].includes(holder)) return [];
        return [
          `${step.process} marked part ${change.part} of ${change.chat}, which ${holder} serves`,
        ];
      });
      holders.note(step);
      return before;
    },
  };
};

/** After the last fault each account must be served again within this time (D13, D14). */
const SERVED_WITHIN_MS = 15_000;

export const everyAccountIsServed: MakeInvariant = () => ({
  id: 'D14',
  atEnd: (simulation) => {
    const { platforms, time, calmSince } = simulation;
    if (time.now - calmSince < SERVED_WITHIN_MS) return [];
    return [...platforms.values()].flatMap((platform) =>
      listAccounts(platform).flatMap((account) => {
        const polls = platform.attempts.touches.filter(
          ({ what, life, at }) => what === 'poll' && life.account === account && at >= calmSince,
        );
        const times = [calmSince, ...polls.map(({ at }) => at), time.now];
        const gaps = times.slice(1).map((at, index) => at - (times[index] ?? at));
        const longest = Math.max(...gaps);
        return longest > SERVED_WITHIN_MS
          ? [`no gateway served ${platform.kind.id}/${account} for ${Math.round(longest)} ms`]
          : [];
      }),
    );
  },
});

function listAccounts({ kind }: Platform): readonly string[] {
  return kind.accounts ?? ['default'];
}

/** The gateways of a deployment without faults share the accounts evenly, to within one (D14). */
export const accountsAreShared: MakeInvariant = () => ({
  id: 'D14',
  atEnd: (simulation: Simulation) => {
    if (simulation.time.now - simulation.calmSince < 40_000) return [];
    const { leases } = simulation.observer.tables;
    const seats = [...leases.values()].filter(
      ({ name, owner, lease_until }) =>
        name.startsWith('gateway:') &&
        owner !== null &&
        (lease_until ?? 0) > simulation.databaseTime(simulation.time.now),
    );
    if (seats.length < 2) return [];
    const counts = seats.map(
      ({ owner }) =>
        [...leases.values()].filter((one) => one.name.startsWith(ACCOUNT) && one.owner === owner)
          .length,
    );
    return Math.max(...counts) - Math.min(...counts) > 1
      ? [`the gateways have ${counts.join(' and ')} accounts`]
      : [];
  },
});
