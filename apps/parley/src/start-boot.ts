import { type NewId, reasonOf } from '@parley/contracts';
import { type BootDeps, type PlannedAccount, runBoot } from '@parley/gateway';
import type { WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import type { Workspace } from '@parley/workspace';
import { servedBy } from './message-settings.ts';

/** What a start needs to run BOOT.md. */
export interface StartBoot extends Pick<BootDeps, 'owners' | 'clock' | 'log'> {
  readonly store: Store;
  /** Id of this process where others may work on the same database. */
  readonly shared: { readonly processId: string } | null;
  readonly turns: Pick<WakeUpQueue, 'kick'>;
  readonly workspace: Workspace;
  readonly accounts: readonly PlannedAccount[];
  readonly newId: NewId;
}

/**
 * Begins to run BOOT.md (W08) and keeps nobody waiting; what it gives back waits until that is done. Of
 * several gateways the first runs it: one that joins others, as in a rolling restart, is no start.
 */
export function startBoot(deps: StartBoot): () => Promise<void> {
  const { workspace, accounts, turns, newId } = deps;
  const view = workspace.for({ kind: 'owner', conversationId: 'start' });
  const run = () =>
    runBoot({
      ...deps,
      lanes: turns,
      startId: newId('boot'),
      saysSomething: async () => (await view.read('BOOT.md')).kind === 'file',
      serves: servedBy(accounts),
    });
  const running = isStart(deps).then((yes) => (yes ? run() : undefined));
  return async () => void (await running);
}

async function isStart({ store, shared, clock, log }: StartBoot): Promise<boolean> {
  if (shared === null) return true;
  const { isFirstGateway } = await import('./is-first-gateway.ts');
  return isFirstGateway({ store, clock, ...shared }).catch((error: unknown) => {
    log.error({ reason: reasonOf(error) }, 'BOOT.md could not be run; the next start tries again');
    return false;
  });
}
