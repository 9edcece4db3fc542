import { openMcp } from '@parley/agent';
import { reasonOf } from '@parley/contracts';
import { type OpenBus, openBus, openQueues, type Queues } from '@parley/queue';
import { openStore, type Store } from '@parley/store';
import { createMetrics } from '@parley/telemetry';
import { approvalsOf } from './approval-settings.ts';
import { chooseModel } from './choose-model.ts';
import { openInspector } from './inspector/open-inspector.ts';
import { previewOnPage } from './inspector/preview-on-page.ts';
import { LOCAL_OWNERS } from './local-owners.ts';
import { messagesOf } from './message-settings.ts';
import { newId } from './new-id.ts';
import { openAgent } from './open-agent.ts';
import { openCron } from './open-cron.ts';
import { openHeartbeat } from './open-heartbeat.ts';
import type { OpenLog } from './open-log.ts';
import { openSoul } from './open-soul.ts';
import { planAccounts } from './plan-accounts.ts';
import type { PluggedIn } from './plug-in.ts';
import type { LoadedSettings } from './read-settings.ts';
import type { StartOptions } from './start-parley.ts';

/** What gateway and worker are built on. */
export type Parts = Awaited<ReturnType<typeof openParts>>;

/** Opens what everything else is built on, and leaves in `opened` how it is closed. */
export async function openParts(
  options: StartOptions & OpenLog,
  { loaded, definitions, agent: plugins }: PluggedIn,
  opened: AsyncDisposableStack,
) {
  const { env, clock, log, pass } = options;
  const processId = newId('process');
  const { settings } = loaded;
  const metrics = createMetrics({
    onMistake: (mistake) => log.error({ mistake }, 'metric not counted'),
  });
  const { store, queues, bus } = await openDurable(options, settings, opened);
  const mcp = await openMcp(settings.mcp, { env, clock, random: Math.random, log });
  opened.defer(() => mcp.close());
  const wake = (conversationId: string) => queues.lanes.kick(conversationId);
  const delegation = { subAgents: store.subAgents, wake, newId, clock };
  const owners = [...settings.owners, ...LOCAL_OWNERS];
  const accounts = planAccounts(loaded, owners, definitions);
  const cron = openCron(settings, { store, queues, accounts, clock, log });
  const messages = messagesOf(settings, { store, queues, owners, accounts });
  const { meter } = metrics;
  // The model is known later, and asked later still.
  const models = { model: () => model.model, meter };
  const soul = openSoul(settings, { ...options, store, models });
  const agent = await openAgent({
    ...options,
    soul,
    settings,
    plugins,
    mcp,
    memoryStore: store,
    work: {
      cron: { store, ask: cron.ask },
      delegation,
      messages,
      todos: store.todos,
      ...soul.tool,
    },
  });
  const approvals = approvalsOf(settings);
  const channels = definitions.map(({ id }) => id);
  const preview = previewOnPage({ agent, owners, approvals, channels, clock, log });
  const inspector = openInspector(store.prompts, settings.inspector, { preview, clock, log });
  opened.use(inspector);
  const model = chooseModel(loaded, options, log);
  /** What both roles need. */
  const shared = {
    store,
    queues,
    bus,
    log,
    meter,
    clock,
    pass,
  };
  const { folder } = options;
  const proactive = openHeartbeat(settings, { ...shared, ...agent, folder, owners, accounts });
  return {
    processId,
    shared,
    metrics,
    agent,
    mcp,
    owners,
    approvals,
    accounts,
    inspector,
    model,
    proactive,
    cron,
    soul,
  };
}

/** The database, which holds the truth, and the queues, which only wake people up. */
async function openDurable(
  { folder, clock, log }: StartOptions & OpenLog,
  settings: LoadedSettings['settings'],
  opened: AsyncDisposableStack,
): Promise<{ readonly store: Store; readonly queues: Queues; readonly bus: OpenBus }> {
  const store = await openStore({ url: settings.store.url ?? folder.storeUrl, clock });
  opened.defer(async () => {
    try {
      await store.close();
    } catch (error) {
      // Everything is committed by now; only the tidying of the log file is left for the next start.
      log.warn({ reason: reasonOf(error) }, 'the database did not close cleanly');
    }
  });
  const place = { ...settings.queue, url: settings.queue.url ?? 'memory:', log };
  const [queues, bus] = await Promise.all([openQueues(place), openBus(place)]);
  opened.defer(async () => void (await Promise.all([queues.close(), bus.close()])));
  // The lock on the data folder says that nobody else can be at work, but only for what lies in it.
  if (settings.store.url === undefined) {
    await Promise.all([store.lanes.releaseAll(), store.summaries.releaseAll()]);
  }
  return { store, queues, bus };
}
