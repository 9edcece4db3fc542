import { startWorker } from '@parley/worker';
import { keepRetention } from './keep-retention.ts';
import type { Parts } from './open-parts.ts';
import type { PluggedIn } from './plug-in.ts';
import { startSoul } from './start-soul.ts';
import { workerOptions } from './worker-options.ts';

/** Turns that are under way at a shutdown get this long, then they are handed back. In ms. */
const TURN_GRACE_MS = 4_000;

/** Starts what runs turns, and leaves in `opened` how it is closed. */
export async function composeWorker(
  { loaded }: PluggedIn,
  parts: Parts,
  opened: AsyncDisposableStack,
): Promise<void> {
  const worker = await startWorker(workerOptions(loaded, parts));
  opened.defer(() => worker.close(TURN_GRACE_MS));
  opened.defer(startSoul(parts));
  opened.defer(keepRetention(parts, loaded.settings));
}
