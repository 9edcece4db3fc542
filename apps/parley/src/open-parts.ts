import { openMcp } from '@parley/agent';
import { createMetrics } from '@parley/telemetry';
import { approvalsOf } from './approval-settings.ts';
import { chooseModel } from './choose-model.ts';
import { openInspector, previewOnPage } from './inspector/page.ts';
import { LOCAL_OWNERS } from './local-owners.ts';
import { messagesOf } from './message-settings.ts';
import { newId } from './new-id.ts';
import { openAgent } from './open-agent.ts';
import { openCron } from './open-cron.ts';
import { openDurable } from './open-durable.ts';
import { openHeartbeat } from './open-heartbeat.ts';
import type { OpenLog } from './open-log.ts';
import { openScrape } from './open-scrape.ts';
import { openSoul } from './open-soul.ts';
import { planAccounts } from './plan-accounts.ts';
import type { PluggedIn } from './plug-in.ts';
import type { StartOptions } from './start-parley.ts';

/** What gateway and worker are built on. */
export type Parts = Awaited<ReturnType<typeof openParts>>;

/** Opens what everything else is built on, and leaves in `opened` how it is closed. */
export async function openParts(
  options: StartOptions & OpenLog,
  { loaded, definitions, agent: plugins }: PluggedIn,
  opened: AsyncDisposableStack,
) {
  const { clock, log, pass, secrets } = options;
  const processId = newId('process');
  const { settings } = loaded;
  const metrics = createMetrics({
    onMistake: (mistake) => log.error({ mistake }, 'metric not counted'),
  });
  const durable = await openDurable({ ...options, processId }, settings, opened);
  const { store, turns, bus, deliver, lock } = durable;
  const mcp = await openServers(settings, options);
  opened.defer(() => mcp.close());
  const wake = (conversationId: string) => turns.kick(conversationId);
  const delegation = { subAgents: store.subAgents, wake, newId, clock };
  const owners = [...settings.owners, ...LOCAL_OWNERS];
  const accounts = planAccounts(loaded, owners, definitions);
  const cron = openCron(settings, { store, turns, bus, deliver, accounts, clock, log, pass });
  const messages = messagesOf(settings, { store, deliver, owners, accounts });
  const { meter } = metrics;
  // The model is known later, and asked later still.
  const models = { model: () => model.model, meter };
  const soul = openSoul(settings, { ...options, store, lock, models });
  const agent = await openAgent({
    ...options,
    soul,
    lock,
    settings,
    plugins,
    mcp,
    durable,
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
  const inspector = openInspector(store.prompts, settings.inspector, preview);
  const model = chooseModel(loaded, options, log, secrets);
  /** What both roles need. */
  const shared = {
    ...durable,
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
    scrape: openScrape(shared, metrics),
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

/** The MCP servers, and what notices that they describe their tools otherwise than before. */
async function openServers(
  { mcp }: PluggedIn['loaded']['settings'],
  options: StartOptions & OpenLog,
) {
  const deps = { ...options, random: Math.random };
  if (Object.keys(mcp).length === 0) return openMcp(mcp, deps);
  const { createMcpNotes } = await import('./audit/mcp-accepted.ts');
  return openMcp(mcp, { ...deps, onOffer: createMcpNotes(options.folder, options) });
}
