import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Clock,
  type Logger,
  type Monotonic,
  newId,
  reasonOf,
  silentLogger,
  systemTime,
} from '@parley/core';
import type { LeaseRepository, NamedLease, Store } from '@parley/store';
import {
  createLocalLock,
  type LockHold,
  openWorkspace,
  type WorkspaceLock,
} from '@parley/workspace';
import { CliError, WORKSPACE_TEMPLATES } from './data-folder.ts';
import type { LoadedSettings } from './settings.ts';

/**
 * How long (ms) a writer waits for the lock: more than twice the lease time of a holder that has
 * died.
 */
const TIMEOUT_MS = 20_000;
const RECHECK_MS = { first: 5, last: 200 };

/**
 * Returns the lock that allows only one process at a time to write to the workspace; undefined if
 * there can be no other process.
 */
export function createWorkspaceLock(
  { agent, store: { url } }: LoadedSettings['settings'],
  deps: Pick<SharedLockDeps, 'clock' | 'monotonic' | 'random' | 'log'> & {
    readonly store: Pick<Store, 'leases'>;
    readonly processId: string;
  },
): WorkspaceLock | undefined {
  if (url === undefined) return undefined;
  const { store, processId: owner, ...around } = deps;
  const name = `workspace:${agent.id}`;
  return createSharedLock({ ...around, leases: store.leases, name, owner });
}

/** Opens the workspace for a command, which accesses its files alongside running processes. */
export async function openWorkspaceForCommand(
  settings: LoadedSettings['settings'],
  store: Pick<Store, 'leases'>,
) {
  const { workspace: folder, memory = 'main-session' } = settings.agent;
  const own = { store, processId: newId('command'), ...systemTime, log: silentLogger };
  const lock = createWorkspaceLock(settings, own);
  const shared = lock !== undefined && { lock };
  const workspace = await openWorkspace({
    folder,
    templates: WORKSPACE_TEMPLATES,
    memory,
    ...shared,
  });
  return { workspace, lock };
}

export interface SharedLockDeps extends LeaseDeps {
  readonly random: () => number;
  /** The maximum wait (ms). Tests use a shorter wait. */
  readonly patienceMs?: number;
}

/**
 * A lock across processes, implemented as a lease in the database. A process that has lost the
 * lease gets an error before it writes.
 */
export function createSharedLock(deps: SharedLockDeps): WorkspaceLock {
  const here = createLocalLock();
  return { hold: (work) => here.hold(() => runExclusively(deps, work)) };
}

async function runExclusively<T>(
  deps: SharedLockDeps,
  work: (hold: LockHold) => Promise<T>,
): Promise<T> {
  const { name, monotonic, random, patienceMs = TIMEOUT_MS } = deps;
  const started = monotonic();
  for (let pause = RECHECK_MS.first; ; pause = Math.min(pause * 2, RECHECK_MS.last)) {
    const held = await runWithLease(deps, work);
    if (held.kind === 'done') return held.result;
    if (monotonic() - started > patienceMs) {
      throw new CliError(
        'workspace-busy',
        `Another process (${held.owner}) has held ${name} for ${patienceMs / 1_000} s. Try again later.`,
      );
    }
    // The pause is random, so that waiting processes do not retry at the same moment. The lease
    // contains the time at which it expires if its holder has died.
    await sleep(pause * (0.5 + random()));
  }
}

/** The time (ms) after which the lease of a dead process expires. */
const LEASE_MS = 6_000;
const RENEW_MS = 2_000;
/**
 * How long (ms) before its expiry a lease is considered lost. Clocks differ, and renaming a file
 * takes time.
 */
const RESERVE_MS = 1_500;

export interface LeaseDeps {
  readonly leases: LeaseRepository;
  readonly name: string;
  /** The holder's name as shown to people. */
  readonly owner: string;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Logger;
}

/**
 * The time at which a lease was requested, on two clocks: the wall clock can be set back, and the
 * monotonic clock stops while the machine is suspended.
 */
interface LeaseRequestTime {
  readonly at: number;
  readonly ticks: number;
}

/**
 * Runs `work` if the lease is free; otherwise the result `busy` names the holder. Throws errors of
 * the database and of `work`.
 */
export async function runWithLease<T>(
  deps: LeaseDeps,
  work: (hold: LockHold) => Promise<T>,
): Promise<
  { readonly kind: 'done'; readonly result: T } | { readonly kind: 'busy'; readonly owner: string }
> {
  const asked = { at: deps.clock(), ticks: deps.monotonic() };
  const taken = await deps.leases.acquire(deps.name, deps.owner, LEASE_MS);
  if (taken.kind === 'busy') return taken;
  const kept = renewLease(deps, taken.lease, asked);
  try {
    return { kind: 'done', result: await work(kept) };
  } finally {
    kept.end();
    await releaseLease(deps, taken.lease);
  }
}

function renewLease(
  { leases, name, clock, monotonic, log }: LeaseDeps,
  lease: NamedLease,
  asked: LeaseRequestTime,
): LockHold & { readonly end: () => void } {
  let last: LeaseRequestTime | null = asked;
  const renew = async (): Promise<void> => {
    const now = { at: clock(), ticks: monotonic() };
    try {
      last = (await leases.renew(lease, LEASE_MS)) ? now : null;
    } catch (error) {
      log.warn({ lease: name, reason: reasonOf(error) }, 'lease not renewed');
    }
  };
  const timer = setInterval(() => void renew(), RENEW_MS);
  return {
    isMine() {
      if (last === null) return false;
      const age = Math.max(clock() - last.at, monotonic() - last.ticks);
      return age < LEASE_MS - RESERVE_MS;
    },
    end: () => clearInterval(timer),
  };
}

/** A lease that cannot be released expires. */
async function releaseLease({ leases, name, log }: LeaseDeps, lease: NamedLease): Promise<void> {
  try {
    await leases.release(lease);
  } catch (error) {
    log.warn({ lease: name, reason: reasonOf(error) }, 'lease not released');
  }
}
