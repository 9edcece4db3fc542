import { type Clock, type Logger, reasonOf } from '@parley/core';
import { type StartSweep, startSweep } from '@parley/queue';
import type { AccountWork, OutboxRepository } from '@parley/store';
import type { AccountName } from './account-rights.ts';

/** The maximum delay (ms) for a message part or file whose wake-up was lost. */
const SWEEP_MS = 5_000;

/** Finds overlooked work for all accounts of a gateway with a single query. */
export interface AccountSweeps {
  /**
   * Sweeps one kind of work for one account: immediately, and again whenever a check finds such
   * work.
   */
  of(name: AccountName, kind: AccountWork['kind']): StartSweep;
  stop(): Promise<void>;
}

/** Starts the periodic checks. The database is not queried while there are no accounts. */
export function sweepAccounts({
  store,
  clock,
  log,
}: {
  readonly store: { readonly outbox: Pick<OutboxRepository, 'accountsWithWork'> };
  readonly clock: Clock;
  readonly log: Logger;
}): AccountSweeps {
  const tasks = new Map<string, () => Promise<void>>();
  const sweep = startSweep('accounts', SWEEP_MS, log, async () => {
    if (tasks.size === 0) return;
    const found = await store.outbox.accountsWithWork(clock());
    await Promise.all(found.map((work) => tasks.get(toWorkKey(work))?.()));
  });
  return {
    of: (name, kind) => (task) => {
      const key = toWorkKey({ ...name, kind });
      let round = Promise.resolve();
      const run = (): Promise<void> => {
        round = round.then(task).catch((error: unknown) => {
          log.warn({ sweep: key, reason: reasonOf(error) }, 'sweep failed');
        });
        return round;
      };
      tasks.set(key, run);
      void run();
      return {
        async stop() {
          if (tasks.get(key) === run) tasks.delete(key);
          await round;
        },
      };
    },
    stop: () => sweep.stop(),
  };
}

function toWorkKey({ kind, channel, account }: AccountWork): string {
  return `${kind} ${channel}/${account}`;
}
