import { reasonOf } from '@parley/contracts';
import { openBus, openTurnQueue, wakeDeliveryOn } from '@parley/queue';
import { openStore } from '@parley/store';
import type { TracingOptions } from '@parley/telemetry/otel';
import type { OpenLog } from './open-log.ts';
import type { LoadedSettings } from './read-settings.ts';
import type { StartOptions } from './start-parley.ts';

/** Each role hears of other processes what concerns it. */
const HEARS = { all: undefined, gateway: 'turns', worker: 'orders' } as const;

/**
 * The database, which holds the truth, the queue and the bus, which only wake people up, and the traces
 * through all of them.
 */
export async function openDurable(
  {
    folder,
    clock,
    log,
    secrets,
    processId,
    role = 'all',
  }: StartOptions & OpenLog & { readonly processId: string },
  settings: LoadedSettings['settings'],
  opened: AsyncDisposableStack,
) {
  const traces = await tracesOf(
    settings.telemetry,
    { instance: processId, log, scrub: secrets.scrubLog },
    opened,
  );
  const store = await openStore({
    ...settings.store,
    url: settings.store.url ?? folder.storeUrl,
    clock,
    log,
  });
  opened.defer(async () => {
    try {
      await store.close();
    } catch (error) {
      // Everything is committed by now; only the tidying of the log file is left for the next start.
      log.warn({ reason: reasonOf(error) }, 'the database did not close cleanly');
    }
  });
  const place = { ...settings.queue, url: settings.queue.url ?? 'memory:', log };
  const [turns, bus] = await Promise.all([
    openTurnQueue({ ...place, telemetry: traces?.queues }),
    openBus({ ...place, hears: HEARS[role] }),
  ]);
  opened.defer(async () => void (await Promise.all([turns.close(), bus.close()])));
  // The lock on the data folder says that nobody else can be at work, but only for what lies in it.
  if (settings.store.url === undefined) {
    await Promise.all([store.lanes.releaseAll(), store.summaries.releaseAll()]);
  }
  const lock =
    settings.store.url === undefined
      ? undefined
      : (await import('./shared-lock.ts')).workspaceLock(settings, {
          store,
          processId,
          clock,
          log,
        });
  return { store, turns, bus, deliver: wakeDeliveryOn(bus), lock, tracer: traces?.tracer };
}

/** Null where nothing is traced: then nothing is loaded for it. */
async function tracesOf(
  { otlp, ...settings }: LoadedSettings['settings']['telemetry'],
  about: Pick<TracingOptions, 'instance' | 'log' | 'scrub'>,
  opened: AsyncDisposableStack,
) {
  if (otlp === undefined) return null;
  const { openTraces } = await import('./open-traces.ts');
  return openTraces({ ...settings, otlp }, about, opened);
}
