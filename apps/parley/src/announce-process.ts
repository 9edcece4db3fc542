import { hostname } from 'node:os';
import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import { startSweep } from '@parley/queue';
import type { ProcessFacts, RunningProcess, Store } from '@parley/store';
import manifest from '../package.json' with { type: 'json' };
import { clockAhead, differences, workspaceId } from './strangers.ts';

/** Twice and a little in the time after which a process counts as gone (15 s). */
const BEAT_MS = 7_000;

/** What announcing needs. */
export interface AnnounceDeps {
  readonly store: Pick<Store, 'processes'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Hears that a newer Parley has changed the database, at most once. */
  readonly onOutdated?: ((version: string) => void) | undefined;
}

/** Where others reach a server of the machine `host` that listens on all its addresses. */
function addressFrom(host: string, address: string): string {
  return address.replace(/\/\/(0\.0\.0\.0|\[::\]):/, `//${host}:`);
}

/** Says every few seconds that this process runs, and at the end that it does not; that is what it gives back. */
export function announceProcess(
  { store, clock, log, onOutdated }: AnnounceDeps,
  { id, role, address }: Pick<RunningProcess, 'id' | 'role' | 'address'>,
  known: { readonly facts: ProcessFacts; readonly workspace: string },
): () => Promise<void> {
  const { version } = manifest;
  const startedAt = clock();
  const host = hostname();
  const own = { id, role, host, pid: process.pid, version, startedAt };
  const row = { ...own, address: addressFrom(host, address) };
  let isOutdated = false;
  let { facts } = known;
  const say = async (): Promise<void> => {
    // A restore may have put another folder there.
    facts = { ...facts, workspace: await workspaceId(known.workspace) };
    const asked = clock();
    const beat = await store.processes.beat({ ...row, facts }, asked);
    if (beat.kind === 'outdated') {
      isOutdated = true;
      onOutdated?.(beat.newer);
      return;
    }
    const now = { ...facts, clockAheadMs: clockAhead(asked, clock(), beat.time) };
    const isKnown = differences({ version, facts }, null).length > 0;
    for (const { what, text } of isKnown ? [] : differences({ version, facts: now }, null)) {
      log.warn({ what }, `this process does not fit its deployment: ${text}`);
    }
    facts = now;
  };
  const beats = startSweep('process', BEAT_MS, log, async () => {
    if (!isOutdated) await say();
  });
  return async () => {
    await beats.stop();
    // Where the database is away the others notice by themselves.
    await store.processes.leave(id).catch((error: unknown) => {
      log.warn({ reason: reasonOf(error) }, 'the end of this process is not told');
    });
  };
}
