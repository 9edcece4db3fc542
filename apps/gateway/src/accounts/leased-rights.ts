import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import { PROCESS_GONE_AFTER_MS, type RunningProcess, type Store } from '@parley/store';
import type { AccountName, AccountRight, AccountRights } from './account-rights.ts';
import { keepRight } from './keep-right.ts';

/** What deciding by leases needs. */
export interface LeasedRightsDeps {
  readonly store: Pick<Store, 'leases' | 'processes' | 'outbox'>;
  /** Id of this process. */
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** `LEASE_MS` when absent; tests cannot wait that long. */
  readonly leaseMs?: number | undefined;
}

/** A dead gateway's accounts are free after this; another one asks every second (D09: 10 s). In ms. */
const LEASE_MS = 6_000;
const ASK_AGAIN_MS = 1_000;

/** One gateway at a time per account, by leases in the database that all of them share. */
export function leasedRights(deps: LeasedRightsDeps): AccountRights {
  const { store, owner, clock, log, leaseMs = LEASE_MS } = deps;
  const processes = (): Promise<readonly RunningProcess[]> =>
    store.processes.list(clock() - PROCESS_GONE_AFTER_MS);
  const ask = async (
    name: AccountName,
    standby: (holder: string) => void,
  ): Promise<AccountRight | number> => {
    const at = clock();
    const asked = await store.leases.acquire(leaseNameOf(name), owner, at, leaseMs);
    if (asked.kind === 'held') return keepRight({ ...deps, leaseMs }, asked.lease, at + leaseMs);
    standby(nameOf(asked.owner, await processes()));
    return Math.min(asked.retryInMs, ASK_AGAIN_MS);
  };
  return {
    areShared: true,
    async obtain(name, standby, signal) {
      while (!signal.aborted) {
        const answer = await ask(name, standby).catch((error: unknown) => {
          log.warn({ ...name, reason: reasonOf(error) }, 'cannot ask who serves this account');
          return ASK_AGAIN_MS;
        });
        if (typeof answer !== 'number') return answer;
        await sleep(answer, undefined, { signal }).catch(() => undefined);
      }
      return null;
    },
    async holder(name) {
      const held = await store.leases.held(clock());
      const owner = held.find((lease) => lease.name === leaseNameOf(name))?.owner;
      return (await processes()).find(({ id }) => id === owner) ?? null;
    },
  };
}

function leaseNameOf({ channel, account }: AccountName): string {
  return `account:${channel}/${account}`;
}

/** For people. */
function nameOf(id: string, processes: readonly RunningProcess[]): string {
  const found = processes.find((process) => process.id === id);
  return found === undefined ? 'another gateway' : `the gateway on ${found.host} (${found.pid})`;
}
