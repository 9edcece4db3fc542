import { type NewId, reasonOf } from '@parley/contracts';
import { type BootDeps, type PlannedAccount, runBoot } from '@parley/gateway';
import type { Queues } from '@parley/queue';
import { PROCESS_GONE_AFTER_MS, type Store } from '@parley/store';
import type { Workspace } from '@parley/workspace';
import { servedBy } from './message-settings.ts';

/** What a start needs to run BOOT.md. */
export interface StartBoot extends Pick<BootDeps, 'owners' | 'clock' | 'log'> {
  readonly store: Store;
  /** Id of this process where others may work on the same database. */
  readonly shared: { readonly processId: string } | null;
  readonly queues: Pick<Queues, 'lanes'>;
  readonly workspace: Workspace;
  readonly accounts: readonly PlannedAccount[];
  readonly newId: NewId;
}

/**
 * Begins to run BOOT.md (W08) and keeps nobody waiting; what it gives back waits until that is done. Of
 * several gateways the first runs it: one that joins others, as in a rolling restart, is no start.
 */
export function startBoot(deps: StartBoot): () => Promise<void> {
  const { workspace, accounts, queues, newId } = deps;
  const view = workspace.for({ kind: 'owner', conversationId: 'start' });
  const run = () =>
    runBoot({
      ...deps,
      lanes: queues.lanes,
      startId: newId('boot'),
      saysSomething: async () => (await view.read('BOOT.md')).kind === 'file',
      serves: servedBy(accounts),
    });
  const running = firstOfAll(deps).then((first) => (first ? run() : undefined));
  return async () => void (await running);
}

/** Gateways that start in the same moment do not see each other yet; a lease of this length decides. In ms. */
const SAME_MOMENT_MS = 10_000;

async function firstOfAll({ store, shared, clock, log }: StartBoot): Promise<boolean> {
  if (shared === null) return true;
  try {
    const others = await store.processes.list(clock() - PROCESS_GONE_AFTER_MS);
    if (others.some(({ id, role }) => role !== 'worker' && id !== shared.processId)) return false;
    const { kind } = await store.leases.acquire('boot', shared.processId, clock(), SAME_MOMENT_MS);
    return kind === 'held';
  } catch (error) {
    log.error({ reason: reasonOf(error) }, 'BOOT.md could not be run; the next start tries again');
    return false;
  }
}
