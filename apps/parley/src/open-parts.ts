import { openMcp } from '@parley/agent';
import { type Logger, reasonOf } from '@parley/contracts';
import { openQueues } from '@parley/queue';
import { openStore } from '@parley/store';
import { createMetrics } from '@parley/telemetry';
import { approvalsOf } from './approval-settings.ts';
import { chooseModel } from './choose-model.ts';
import { openInspector } from './inspector/open-inspector.ts';
import { previewOnPage } from './inspector/preview-on-page.ts';
import { LOCAL_OWNERS } from './local-owners.ts';
import { newId } from './new-id.ts';
import { openAgent } from './open-agent.ts';
import type { PluggedIn } from './plug-in.ts';
import type { StartOptions } from './start-parley.ts';

/** Opens what everything else is built on, and leaves in `opened` how it is closed. */
export async function openParts(
  options: StartOptions,
  { loaded, definitions, agent: plugins }: PluggedIn,
  log: Logger,
  opened: AsyncDisposableStack,
) {
  const { folder, clock } = options;
  const { settings } = loaded;
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
  const queues = await openQueues({ url: settings.queue.url ?? 'memory:', log });
  opened.defer(() => queues.close());
  // The lock on the data folder says that nobody else can be at work, but only for what lies in it.
  if (settings.store.url === undefined) {
    await Promise.all([store.lanes.releaseAll(), store.summaries.releaseAll()]);
  }
  const mcp = await openMcp(settings.mcp, { env: options.env, clock, random: Math.random, log });
  opened.defer(() => mcp.close());
  const wake = (conversationId: string) => queues.lanes.kick(conversationId);
  const delegation = { subAgents: store.subAgents, wake, newId, clock };
  const agent = await openAgent({
    folder,
    env: options.env,
    settings,
    log,
    plugins,
    mcp,
    memoryStore: store,
    work: { delegation, todos: store.todos },
  });
  const owners = [...settings.owners, ...LOCAL_OWNERS];
  const channels = definitions.map(({ id }) => id);
  const approvals = approvalsOf(settings);
  const preview = previewOnPage({ agent, owners, approvals, channels, clock, log });
  const inspector = openInspector(store.prompts, settings.inspector, { preview, clock, log });
  opened.use(inspector);
  const model = chooseModel(loaded, options, log);
  return { metrics, store, queues, agent, mcp, model, inspector };
}
