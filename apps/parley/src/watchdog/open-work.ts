import { hostname } from 'node:os';
import type { Logger } from '@parley/core';
import type { Store } from '@parley/store';
import type { DataFolder } from '../data-folder.ts';
import { isProcessAlive } from '../data-folder.ts';
import { formatLogName, type StartOptions } from '../process-options.ts';
import { type EndedProcess, findSuspectWork, toWorkName } from './ended-process.ts';
import { noWatchdog, openWatchdog, type Watchdog } from './watchdog.ts';
import { type OpenWorkRecord, openWorkRecord } from './work-record.ts';

interface WorkOptions extends Pick<StartOptions, 'clock' | 'role' | 'endsWhenStill'> {
  readonly folder: Pick<DataFolder, 'working'>;
  readonly log: Logger;
  /** Whether other processes may use the data folder at the same time. */
  readonly isShared: boolean;
}

/**
 * Opens the record of this process's work, counts how earlier processes ended, and creates the
 * watchdog without starting it. The cleanup of both is registered in `opened`.
 */
export async function openWork(
  { folder, clock, log, isShared, role = 'all', endsWhenStill = false }: WorkOptions,
  store: Pick<Store, 'turns'>,
  opened: AsyncDisposableStack,
): Promise<{ readonly work: OpenWorkRecord; readonly watchdog: Watchdog }> {
  const host = hostname();
  const work = openWorkRecord({
    folder: folder.working,
    name: formatLogName({ role, host, pid: process.pid }),
    hasEnded: (name) => !isShared || isOfEndedProcess(name, host),
    clock,
    log,
  });
  opened.defer(() => work.close());
  for (const ended of work.ended) await recordCrash(ended, store, log);
  work.markCounted();
  const watchdog = endsWhenStill ? openWatchdog({ path: work.path, log }) : noWatchdog;
  opened.defer(() => watchdog.close());
  return { work, watchdog };
}

/**
 * Returns whether the process that wrote a record has ended; for processes on other machines, this
 * is unknown.
 */
function isOfEndedProcess(name: string, host: string): boolean {
  const [, pid] = /-(\d+)$/.exec(name) ?? [];
  const roles = (['all', 'gateway', 'worker'] as const).map((role) =>
    formatLogName({ role, host, pid: Number(pid) }),
  );
  return roles.includes(name) && !isProcessAlive(Number(pid));
}

async function recordCrash(
  ended: EndedProcess,
  store: Pick<Store, 'turns'>,
  log: Logger,
): Promise<void> {
  const { hung, died } = findSuspectWork(ended);
  const names = [...hung, ...died].slice(0, MAX_NAMED).map(toWorkName);
  if (ended.stall !== undefined) {
    const facts = { work: names, at: ended.stall.stack };
    log.error(facts, 'the previous process was blocked until it was killed');
  } else if (died.length > 0) {
    log.warn({ work: names }, 'the previous process ended in the middle of some work');
  }
  for (const { kind, key } of hung) if (kind === 'turn') await store.turns.countHang(key);
}

/** The maximum number of unfinished work items in one log line. */
const MAX_NAMED = 20;
