import { startSweep } from '@parley/queue';
import type { RetentionBounds } from '@parley/store';
import type { Parts } from './open-parts.ts';
import { type LoadedSettings, retentionAges } from './read-settings.ts';

const MINUTE_MS = 60_000;
/** Of the time between two steps at least so much is for everything else. */
const SHARE_OF_OTHERS = 4;
const SHORTEST_PAUSE_MS = 5;

export type Kept = Pick<LoadedSettings['settings'], 'retention' | 'inspector'>;

/**
 * Removes old rows every so often, in one process of the deployment at a time and in small steps (D15); what
 * it returns ends that. Not at once: adapters that connect first hear again of what they were told before.
 */
export function keepRetention(
  { shared, processId: owner }: Pick<Parts, 'shared' | 'processId'>,
  settings: Kept,
): () => Promise<void> {
  const { store, clock, log } = shared;
  const { everyMinutes, maxMegabytes } = settings.retention;
  const everyMs = everyMinutes * MINUTE_MS;
  const bytes = maxMegabytes === 'unlimited' ? Number.POSITIVE_INFINITY : maxMegabytes * 1e6;
  const bounds: RetentionBounds = { ages: retentionAges(settings), bytes };
  let isFirst = true;
  let isEnding = false;
  let isTight = false;
  const round = async (isMine: () => boolean): Promise<void> => {
    const { removed, tookMs, cutoff } = await store.retention.run(bounds, {
      clock,
      async pause(tookMs) {
        const ms = Math.max(SHORTEST_PAUSE_MS, tookMs * SHARE_OF_OTHERS);
        await new Promise((resolve) => setTimeout(resolve, ms));
        return !isEnding && isMine();
      },
    });
    if (removed > 0) log.debug({ removed, tookMs }, 'old rows were removed');
    if (cutoff !== null && !isTight) {
      const olderThan = new Date(cutoff).toISOString();
      log.warn({ maxMegabytes, olderThan, removed }, TIGHT);
    }
    isTight = cutoff !== null;
  };
  const sweep = startSweep('retention', everyMs / 10, log, async () => {
    const wasFirst = isFirst;
    isFirst = false;
    if (wasFirst) return;
    const since = clock() - ((await store.retention.last())?.endedAt ?? 0);
    if (since >= 0 && since < everyMs) return;
    const { whileHeld } = await import('./while-held.ts');
    const lease = { leases: store.leases, name: 'retention', owner, clock, log };
    await whileHeld(lease, ({ isMine }) => round(isMine));
  });
  return async () => {
    isEnding = true;
    await sweep.stop();
  };
}

const TIGHT =
  'the database exceeds retention.maxMegabytes: the oldest rows are removed before their age';
