import { hostname } from 'node:os';
import type { Logger } from '@parley/core';
import type { Store } from '@parley/store';
import type { DataFolder } from '../data-folder.ts';
import { isAlive } from '../data-folder.ts';
import { logNameOf, type StartOptions } from '../process-options.ts';
import { blameFor, type EndedProcess, workName } from './ended-process.ts';
import { noWatchdog, openWatchdog, type Watchdog } from './watchdog.ts';
import { type OpenWorkRecord, openWorkRecord } from './work-record.ts';

interface WorkOptions extends Pick<StartOptions, 'clock' | 'role' | 'endsWhenStill'> {
  readonly folder: Pick<DataFolder, 'working'>;
  readonly log: Logger;
  /** Whether other processes may use the data folder at the same time. */
  readonly isShared: boolean;
}

/**
 * Opens the record of what this process works on, counts what ended the processes before it, and makes the watchdog,
 * which is not started yet. Leaves in `opened` how they are closed.
 */
export async function openWork(
  { folder, clock, log, isShared, role = 'all', endsWhenStill = false }: WorkOptions,
  store: Pick<Store, 'turns'>,
  opened: AsyncDisposableStack,
): Promise<{ readonly work: OpenWorkRecord; readonly watchdog: Watchdog }> {
  const host = hostname();
  const work = openWorkRecord({
    folder: folder.working,
    name: logNameOf({ role, host, pid: process.pid }),
    hasEnded: (name) => !isShared || isOfEndedProcess(name, host),
    clock,
    log,
  });
  opened.defer(() => work.close());
  for (const ended of work.ended) await countEnd(ended, store, log);
  work.markCounted();
  const watchdog = endsWhenStill ? openWatchdog({ path: work.path, log }) : noWatchdog;
  opened.defer(() => watchdog.close());
  return { work, watchdog };
}

/** Whether a record belongs to an ended process; unknown for another machine. */
function isOfEndedProcess(name: string, host: string): boolean {
  const [, pid] = /-(\d+)$/.exec(name) ?? [];
  const roles = (['all', 'gateway', 'worker'] as const).map((role) =>
    logNameOf({ role, host, pid: Number(pid) }),
  );
  return roles.includes(name) && !isAlive(Number(pid));
}

async function countEnd(
  ended: EndedProcess,
  store: Pick<Store, 'turns'>,
  log: Logger,
): Promise<void> {
  const { hung, died } = blameFor(ended);
  const names = [...hung, ...died].slice(0, MAX_NAMED).map(workName);
  if (ended.stall !== undefined) {
    const facts = { work: names, at: ended.stall.stack };
    log.error(facts, 'the process before this one stood still until it was ended');
  } else if (died.length > 0) {
    log.warn({ work: names }, 'the process before this one ended in the middle of its work');
  }
  for (const { kind, key } of hung) if (kind === 'turn') await store.turns.countHang(key);
}

/** A log line names no more of what was in progress. */
const MAX_NAMED = 20;
