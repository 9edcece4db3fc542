import { reasonOf } from '@parley/contracts';
import { openQueues } from '@parley/queue';
import { openStore } from '@parley/store';
import { createLogger, createMetrics } from '@parley/telemetry';
import { chooseModel } from './choose-model.ts';
import { readOrMakeToken } from './data-folder.ts';
import { openInspector } from './inspector/open-inspector.ts';
import { openAgent } from './open-agent.ts';
import type { LoadedSettings } from './read-settings.ts';
import type { StartOptions } from './start-parley.ts';

/** Opens what everything else is built on, and leaves in `opened` how it is closed. */
export async function openParts(
  options: StartOptions,
  loaded: LoadedSettings,
  opened: AsyncDisposableStack,
) {
  const { folder, clock } = options;
  const { settings } = loaded;
  const token = readOrMakeToken(folder);
  const log = createLogger({
    ...settings.log,
    secrets: [...loaded.secrets, token],
    ...(options.logTo === undefined ? {} : { destination: options.logTo }),
  });
  const metrics = createMetrics({
    onMistake: (mistake) => log.error({ mistake }, 'metric not counted'),
  });
  const store = await openStore({ url: settings.store.url ?? folder.storeUrl, clock });
  opened.defer(async () => {
    try {
      await store.close();
    } catch (error) {
      // Everything is committed by now; only the tidying of the log file is left for the next start.
      log.warn({ reason: reasonOf(error) }, 'the database did not close cleanly');
    }
  });
  const inspector = opened.use(openInspector(store.prompts, settings.inspector, clock, log));
  const queues = await openQueues({ url: settings.queue.url ?? 'memory:', log });
  opened.defer(() => queues.close());
  // The lock on the data folder says that nobody else can be at work, but only for what lies in it.
  if (settings.store.url === undefined) await store.lanes.releaseAll();
  const agent = await openAgent(settings, log);
  const model = chooseModel(loaded, options, log);
  return { token, log, metrics, store, queues, agent, model, inspector };
}
