import type { NewId } from '@parley/contracts';
import { type BootDeps, type PlannedAccount, runBoot } from '@parley/gateway';
import type { Queues } from '@parley/queue';
import type { Workspace } from '@parley/workspace';
import { servedBy } from './message-settings.ts';

/** What a start needs to run BOOT.md. */
export interface StartBoot extends Pick<BootDeps, 'store' | 'owners' | 'clock' | 'log'> {
  readonly queues: Pick<Queues, 'lanes'>;
  readonly workspace: Workspace;
  readonly accounts: readonly PlannedAccount[];
  readonly newId: NewId;
}

/** Begins to run BOOT.md (W08) and keeps nobody waiting; what it gives back waits until that is done. */
export function startBoot(deps: StartBoot): () => Promise<void> {
  const { workspace, accounts, queues, newId } = deps;
  const view = workspace.for({ kind: 'owner', conversationId: 'start' });
  const running = runBoot({
    ...deps,
    lanes: queues.lanes,
    startId: newId('boot'),
    saysSomething: async () => (await view.read('BOOT.md')).kind === 'file',
    serves: servedBy(accounts),
  });
  return async () => void (await running);
}
