import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { LeaseRepository, NamedLease, Store } from '@parley/store';
import { type Hold, localLock, type WorkspaceLock } from '@parley/workspace';
import { CliError } from './cli-error.ts';
import type { LoadedSettings } from './read-settings.ts';

/** Whoever died while writing is replaced after this. In ms. */
const LEASE_MS = 6_000;
const RENEW_MS = 2_000;
/** So long before its end a lease is no longer relied on: clocks differ, and a renaming takes time. In ms. */
const RESERVE_MS = 1_500;
/** Longer nobody waits to write a few lines; twice the life of a dead one, and more. In ms. */
const PATIENCE_MS = 20_000;
const LOOK_AGAIN_MS = { first: 5, last: 200 };

/** What lets one process at a time write to the workspace; undefined where no other process can be there. */
export function workspaceLock(
  { agent, store: { url } }: LoadedSettings['settings'],
  deps: Pick<SharedLockDeps, 'clock' | 'log'> & {
    readonly store: Pick<Store, 'leases'>;
    readonly processId: string;
  },
): WorkspaceLock | undefined {
  if (url === undefined) return undefined;
  const { store, processId: owner, clock, log } = deps;
  const name = `workspace:${agent.id}`;
  return sharedLock({ leases: store.leases, name, owner, clock, log, random: Math.random });
}

/** What a lock among processes stands on. */
export interface SharedLockDeps {
  readonly leases: LeaseRepository;
  /** What is locked: `workspace:<agent>`. */
  readonly name: string;
  /** Who holds it, for people. */
  readonly owner: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
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
  const { leases, clock, log, name } = deps;
  const { lease, since } = await takeLease(deps);
  let surelyUntil = since + LEASE_MS - RESERVE_MS;
  const renew = async (): Promise<void> => {
    const asked = performance.now();
    try {
      const isHeld = await leases.renew(lease, clock() + LEASE_MS);
      surelyUntil = isHeld ? asked + LEASE_MS - RESERVE_MS : 0;
    } catch (error) {
      log.warn({ lease: name, reason: reasonOf(error) }, 'lease not renewed');
    }
  };
  const timer = setInterval(() => void renew(), RENEW_MS);
  try {
    return await work({ isMine: () => performance.now() < surelyUntil });
  } finally {
    clearInterval(timer);
    await giveBack(deps, lease);
  }
}

async function takeLease({
  leases,
  name,
  owner,
  clock,
  random,
  patienceMs = PATIENCE_MS,
}: SharedLockDeps): Promise<{ readonly lease: NamedLease; readonly since: number }> {
  const begun = performance.now();
  for (let pause = LOOK_AGAIN_MS.first; ; pause = Math.min(pause * 2, LOOK_AGAIN_MS.last)) {
    const since = performance.now();
    const taken = await leases.acquire(name, owner, clock(), LEASE_MS);
    if (taken.kind === 'held') return { lease: taken.lease, since };
    if (since - begun > patienceMs) {
      throw new CliError(
        'workspace-busy',
        `Another process (${taken.owner}) has kept ${name} for ${patienceMs / 1_000} s; try again later.`,
      );
    }
    // Not all at the same moment; what stands in the lease is its end if its holder has died.
    await sleep(pause * (0.5 + random()));
  }
}

/** A lease that cannot be given back runs out by itself. */
async function giveBack({ leases, name, log }: SharedLockDeps, lease: NamedLease): Promise<void> {
  try {
    await leases.release(lease);
  } catch (error) {
    log.warn({ lease: name, reason: reasonOf(error) }, 'lease not given back');
  }
}
