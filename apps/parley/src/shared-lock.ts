import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '@parley/contracts';
import type { Store } from '@parley/store';
import { type Hold, localLock, type WorkspaceLock } from '@parley/workspace';
import { CliError } from './data-folder.ts';
import { newId } from './new-id.ts';
import type { LoadedSettings } from './read-settings.ts';
import { type LeaseDeps, whileHeld } from './while-held.ts';

/** Longer nobody waits to write a few lines; twice the life of a dead one, and more. In ms. */
const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = { first: 5, last: 200 };

/** What lets one process at a time write to the workspace; undefined where no other process can be there. */
export function workspaceLock(
  { agent, store: { url } }: LoadedSettings['settings'],
  deps: Pick<LeaseDeps, 'clock' | 'log'> & {
    readonly store: Pick<Store, 'leases'>;
    readonly processId: string;
  },
): WorkspaceLock | undefined {
  if (url === undefined) return undefined;
  const { store, processId: owner, clock, log } = deps;
  const name = `workspace:${agent.id}`;
  return sharedLock({ leases: store.leases, name, owner, clock, log, random: Math.random });
}

/** The same for a command that works on the files beside running processes. */
export function lockForCommand(
  settings: LoadedSettings['settings'],
  store: Pick<Store, 'leases'>,
): WorkspaceLock | undefined {
  const processId = newId('command');
  return workspaceLock(settings, { store, processId, clock: Date.now, log: silentLogger });
}

/** What a lock among processes stands on. */
export interface SharedLockDeps extends LeaseDeps {
  readonly random: () => number;
  /** How long somebody waits at most, in ms; tests cannot wait that long. */
  readonly patienceMs?: number;
}

/**
 * A lock for a workspace that several processes share: a lease in the database. A process that was
 * stopped while it held it and goes on later is told that it lost it before it replaces a file.
 */
export function sharedLock(deps: SharedLockDeps): WorkspaceLock {
  const here = localLock();
  return { hold: (work) => here.hold(() => holdAmongAll(deps, work)) };
}

async function holdAmongAll<T>(deps: SharedLockDeps, work: (hold: Hold) => Promise<T>): Promise<T> {
  const { name, random, patienceMs = PATIENCE_MS } = deps;
  const begun = performance.now();
  for (let pause = LOOK_AGAIN_MS.first; ; pause = Math.min(pause * 2, LOOK_AGAIN_MS.last)) {
    const held = await whileHeld(deps, work);
    if (held.kind === 'done') return held.result;
    if (performance.now() - begun > patienceMs) {
      throw new CliError(
        'workspace-busy',
        `Another process (${held.owner}) has kept ${name} for ${patienceMs / 1_000} s; try again later.`,
      );
    }
    // Not all at the same moment; what stands in the lease is its end if its holder has died.
    await sleep(pause * (0.5 + random()));
  }
}
