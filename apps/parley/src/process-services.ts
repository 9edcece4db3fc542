import { createCheckRunner, newId, reasonOf, silentTracer } from '@parley/core';
import { createMetrics, type Metrics } from '@parley/core/telemetry';
import type { Tracing, TracingOptions } from '@parley/core/telemetry/otel';
import type { AccountStatus, HealthReport } from '@parley/gateway';
import { createWakeDelivery, openLiveBus, openTurnQueue } from '@parley/queue';
import { openStore, StoreError, type StoreRollback } from '@parley/store';
import { createLocalLock, type WorkspaceLock } from '@parley/workspace';
import manifest from '../package.json' with { type: 'json' };
import {
  assertDatabaseNotLost,
  createMissingDatabaseError,
  describeRollback,
  READ_SO_FAR,
  readStoreMark,
  trackStoreMark,
} from './database-mark.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import { isSharedStore, type LoadedSettings } from './settings.ts';
import type { GaugeDeps, ReadGauges } from './status-report.ts';
import { openWork } from './watchdog/open-work.ts';

export type ProcessServices = Awaited<ReturnType<typeof openProcessServices>>;

/**
 * Opens the services that stay open for the life of the process and survive a reload of the
 * settings: database, queue, bus, metrics and traces. Registers the cleanup of each service in
 * `opened`.
 */
export async function openProcessServices(
  options: StartOptions & OpenLog,
  settings: LoadedSettings['settings'],
  opened: AsyncDisposableStack,
) {
  const { clock, monotonic, random, log, checkpoint } = options;
  const processId = newId('process');
  const metrics = createMetrics({
    onMistake: (mistake) => log.error({ mistake }, 'metric not counted'),
  });
  const durable = await openDurableServices({ ...options, processId }, settings, opened);
  const isOnServer = isSharedStore(settings);
  const { work, watchdog } = await openWork(
    { ...options, isShared: isOnServer },
    durable.store,
    opened,
  );
  const shared = {
    ...durable,
    log,
    meter: metrics.meter,
    clock,
    monotonic,
    random,
    checkpoint,
    work,
    checks: createCheckRunner(),
  };
  return {
    processId,
    shared,
    watchdog,
    filesOf: createWorkspaceLocks(durable.lockOf),
    scrape: createMetricsScraper(shared, metrics),
  };
}

/**
 * Returns one workspace lock per agent, keyed by agent id. During a reload, agents with the old and
 * the new settings write to the same files.
 */
function createWorkspaceLocks(lockOf: (settings: LoadedSettings['settings']) => WorkspaceLock) {
  const locks = new Map<string, WorkspaceLock>();
  return (settings: LoadedSettings['settings']): WorkspaceLock => {
    const lock = locks.get(settings.agent.id) ?? lockOf(settings);
    locks.set(settings.agent.id, lock);
    return lock;
  };
}

/** The events that each role receives from other processes. */
const RECEIVES = { all: undefined, gateway: 'turns', worker: 'orders' } as const;

/** Opens the database, the queue and the bus for wake-ups, and traces all three. */
async function openDurableServices(
  {
    folder,
    clock,
    monotonic,
    random,
    log,
    secrets,
    processId,
    role = 'all',
  }: StartOptions & OpenLog & { readonly processId: string },
  settings: LoadedSettings['settings'],
  opened: AsyncDisposableStack,
) {
  const traces = await openTraces(
    settings.telemetry,
    { instance: processId, log, scrub: secrets.scrubLog },
    opened,
  );
  assertDatabaseNotLost(folder, settings);
  const onSetback = (setback: StoreRollback): void => {
    log.error({ ...setback }, describeRollback(setback, folder));
  };
  const store = await openStore({
    ...settings.store,
    url: settings.store.url ?? folder.storeUrl,
    clock,
    log,
    state: { seen: readStoreMark(folder, settings), forget: READ_SO_FAR, onSetback },
  }).catch((error: unknown) => {
    if (!(error instanceof StoreError) || error.code !== 'store-missing') throw error;
    throw createMissingDatabaseError(folder, 'The database is empty', error);
  });
  opened.defer(async () => {
    try {
      await store.close();
    } catch (error) {
      // All data is committed; only the log file has to be cleaned up at the next start.
      log.warn({ reason: reasonOf(error) }, 'the database did not close cleanly');
    }
  });
  const place = { ...settings.queue, url: settings.queue.url ?? 'memory:', log };
  const [turns, bus] = await Promise.all([
    openTurnQueue({ ...place, monotonic, random, telemetry: traces?.queues }),
    openLiveBus({ ...place, receives: RECEIVES[role] }),
  ]);
  opened.defer(async () => void (await Promise.all([turns.close(), bus.close()])));
  opened.defer(await trackStoreMark({ folder, settings, store, turns, log }));
  // The lock on the data folder excludes other processes, but it protects only a database inside
  // that folder.
  if (settings.store.url === undefined) {
    const { lanes, summaries, leases } = store;
    await Promise.all([lanes.releaseAll(), summaries.releaseAll(), leases.releaseAll()]);
  }
  const { createWorkspaceLock } =
    settings.store.url === undefined
      ? { createWorkspaceLock: undefined }
      : await import('./shared-lock.ts');
  const lockOf = (own: LoadedSettings['settings']) =>
    createWorkspaceLock?.(own, { store, processId, clock, monotonic, random, log }) ??
    createLocalLock();
  return {
    store,
    turns,
    bus,
    deliver: createWakeDelivery(bus),
    lockOf,
    tracer: traces?.tracer ?? silentTracer,
  };
}

/** Returns null if tracing is off, without loading any tracing code. */
async function openTraces(
  { otlp, service, share }: LoadedSettings['settings']['telemetry'],
  own: Pick<TracingOptions, 'instance' | 'log' | 'scrub'>,
  opened: AsyncDisposableStack,
): Promise<Tracing | null> {
  if (otlp === undefined) return null;
  const { openTracing } = await import('@parley/core/telemetry/otel');
  const tracing = await openTracing({
    ...otlp,
    ...own,
    service,
    share,
    version: manifest.version,
  });
  if (tracing !== null) opened.defer(() => tracing.close());
  return tracing;
}

type ScrapeMetrics = (channels: readonly AccountStatus[], health: HealthReport) => Promise<string>;

function createMetricsScraper(deps: GaugeDeps, metrics: Metrics): ScrapeMetrics {
  let gauges: Promise<ReadGauges> | undefined;
  return async (channels, health) => {
    gauges ??= import('./status-report.ts').then(({ openGauges }) => openGauges(deps));
    const read = await gauges;
    return metrics.render(await read(channels, health));
  };
}
