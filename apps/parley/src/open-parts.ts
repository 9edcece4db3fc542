import { isDeepStrictEqual } from 'node:util';
import { openMcp, openMedia } from '@parley/agent';
import { reasonOf, silentTracer } from '@parley/core';
import { createMetrics, type Metrics } from '@parley/core/telemetry';
import type { Tracing, TracingOptions } from '@parley/core/telemetry/otel';
import type { AccountStatus, Health } from '@parley/gateway';
import { contextTokensOf } from '@parley/models';
import { openBus, openTurnQueue, wakeDeliveryOn } from '@parley/queue';
import { openStore } from '@parley/store';
import { localLock } from '@parley/workspace';
import manifest from '../package.json' with { type: 'json' };
import { approvalsOf, ownersOf, planAccounts, servedBy } from './access.ts';
import { skillCommandsOf } from './agent-sources.ts';
import { openInspector, previewOnPage } from './commands/prompt/page.ts';
import { type ChosenModel, chooseModel } from './model.ts';
import { openAgent } from './open-agent.ts';
import type { PluggedIn } from './plug-in.ts';
import { openCron, openHeartbeat } from './proactive.ts';
import { newId, type OpenLog, type StartOptions } from './process-options.ts';
import type { LoadedSettings } from './settings.ts';
import { openSoul } from './soul.ts';
import type { GaugeDeps, ReadGauges } from './status-report.ts';

export type Foundation = Awaited<ReturnType<typeof openFoundation>>;
export type Parts = Awaited<ReturnType<typeof openParts>>;
/** The MCP servers of some settings, and what they were connected by. */
export type Servers = Awaited<ReturnType<typeof openServers>>;

/**
 * Opens what stays as long as the process, whatever becomes of its settings: database, queue, bus, metrics and
 * traces. Leaves in `opened` how it is closed.
 */
export async function openFoundation(
  options: StartOptions & OpenLog,
  settings: LoadedSettings['settings'],
  opened: AsyncDisposableStack,
) {
  const { clock, log, pass } = options;
  const processId = newId('process');
  const metrics = createMetrics({
    onMistake: (mistake) => log.error({ mistake }, 'metric not counted'),
  });
  const durable = await openDurable({ ...options, processId }, settings, opened);
  const shared = { ...durable, log, meter: metrics.meter, clock, pass };
  return {
    processId,
    shared,
    // The agents of two settings write to the same files for a while.
    files: durable.lock ?? localLock(),
    scrape: openScrape(shared, metrics),
  };
}

/** What is made of the settings, and made again when they change. `before`: what it takes the place of. */
export async function openParts(
  options: StartOptions & OpenLog,
  { loaded, definitions, agent: plugins }: PluggedIn,
  { processId, shared, files: lock, scrape }: Foundation,
  mcp: Servers,
  before?: { readonly loaded: LoadedSettings; readonly model: ChosenModel },
) {
  const { clock, log } = options;
  const { settings } = loaded;
  const { store, turns, deliver, meter } = shared;
  const wake = (conversationId: string) => turns.kick(conversationId);
  const delegation = { subAgents: store.subAgents, wake, newId, clock };
  const owners = ownersOf(settings);
  const accounts = planAccounts(loaded, owners, definitions);
  const cron = openCron(settings, { ...shared, accounts });
  const { chats } = settings.tools.message;
  const messages = { store, owners, serves: servedBy(accounts), chats, deliver };
  const isSameModel = before !== undefined && asksTheSame(before.loaded, loaded);
  const model = isSameModel ? before.model : chooseModel(loaded, options);
  const models = { model: () => model.model, meter };
  const soul = openSoul(settings, { ...options, store, lock, models });
  const media = openMedia(settings.media);
  const agent = await openAgent({
    ...options,
    soul: soul.service,
    lock,
    settings,
    plugins,
    mcp: mcp.mcp,
    durable: shared,
    work: {
      cron: { store, ask: cron.ask },
      delegation,
      messages,
      documents: { attachments: store.attachments, media },
      sendFile: { store, deliver, agentFiles: store.agentFiles },
      ...(media.speech !== undefined && { speak: { store, deliver, media } }),
      ownMessages: { store, deliver },
      todos: store.todos,
      ...soul.tool,
    },
  });
  const approvals = approvalsOf(settings);
  const channels = definitions.map(({ id }) => id);
  const { folder } = options;
  const proactive = openHeartbeat(settings, { ...shared, ...agent, folder, owners, accounts });
  const contextTokens = () => contextTokensOf(settings.model, model.model.id);
  const preview = previewOnPage(
    agent,
    { channels, heartbeat: (choose) => proactive.heartbeat.preview(choose) },
    { owners, approvals, clock, log, contextTokens },
  );
  const inspector = openInspector(store.prompts, settings.inspector, preview);
  return {
    loaded,
    processId,
    shared,
    scrape,
    agent,
    media,
    mcp: mcp.mcp,
    owners,
    approvals,
    accounts,
    inspector,
    model,
    proactive,
    cron,
    soul,
    skillCommands: skillCommandsOf(agent.skills),
  };
}

/** Whether two settings choose the same model in the same way: then what is known of it stays. */
function asksTheSame({ settings: a }: LoadedSettings, { settings: b }: LoadedSettings): boolean {
  return isDeepStrictEqual([a.model, a.agent.timeZone], [b.model, b.agent.timeZone]);
}

/** The MCP servers, and what notices that they describe their tools otherwise than before. */
export async function openServers(
  { mcp: settings }: LoadedSettings['settings'],
  options: StartOptions & OpenLog,
) {
  const deps = { ...options, random: Math.random };
  if (Object.keys(settings).length === 0) return { settings, mcp: await openMcp(settings, deps) };
  const { createMcpNotes } = await import('./commands/audit/mcp-accepted.ts');
  const onOffer = createMcpNotes(options.folder, options);
  return { settings, mcp: await openMcp(settings, { ...deps, onOffer }) };
}

/** Which events of other processes each role receives. */
const RECEIVES = { all: undefined, gateway: 'turns', worker: 'orders' } as const;

/** The database, which holds the truth; queue and bus, which only wake; the traces through all of them. */
async function openDurable(
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
    openBus({ ...place, receives: RECEIVES[role] }),
  ]);
  opened.defer(async () => void (await Promise.all([turns.close(), bus.close()])));
  // The lock on the data folder excludes other processes, but only for what is in that folder.
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
  return {
    store,
    turns,
    bus,
    deliver: wakeDeliveryOn(bus),
    lock,
    tracer: traces?.tracer ?? silentTracer,
  };
}

/** Null where nothing is traced: then nothing is loaded for it. */
async function tracesOf(
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

type Scrape = (channels: readonly AccountStatus[], health: Health) => Promise<string>;

function openScrape(deps: GaugeDeps, metrics: Metrics): Scrape {
  let gauges: Promise<ReadGauges> | undefined;
  return async (channels, health) => {
    gauges ??= import('./status-report.ts').then(({ openGauges }) => openGauges(deps));
    const read = await gauges;
    return metrics.render(await read(channels, health));
  };
}
