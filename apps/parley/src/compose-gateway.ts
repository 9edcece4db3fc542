import {
  type CommandServices,
  createAnswerPrinter,
  getBootId,
  openSendNotes,
} from '@parley/channels';
import { newId } from '@parley/core';
import {
  type GatewayOptions,
  type GatewayServices,
  startGateway,
  startHealthServer,
} from '@parley/gateway';
import type { Hooks } from '@parley/proactive';
import type { Store } from '@parley/store';
import manifest from '../package.json' with { type: 'json' };
import { toUsageDisplaySettings } from './access.ts';
import type { AgentRuntime } from './agent-runtime.ts';
import { listAgentSummaries } from './agents.ts';
import { type AgentsRuntime, findAgent } from './agents-runtime.ts';
import { listMemoryChats } from './memory-chats.ts';
import type { LoadedPlugins } from './plug-in.ts';
import { openHooks, startBoot } from './proactive.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import type { ProcessServices } from './process-services.ts';
import type { ReloadableRuntime } from './reloadable-runtime.ts';
import { notifyOfRollbacks } from './setback-notice.ts';
import { findChosenAgent, isSharedStore, type LoadedSettings } from './settings.ts';
import type { SettingsWatch } from './settings-watch.ts';
import { auditInstallation, startAudit } from './startup-audit.ts';

/** How long (ms) sends in progress may take during shutdown, after the turns have ended. */
const SEND_GRACE_MS = 3_000;

/** Starts the channels and the web server, and registers their cleanup in `opened`. */
export async function composeGateway(
  options: StartOptions & OpenLog,
  plugged: Pick<LoadedPlugins, 'report' | 'definitions' | 'agent'>,
  { runtime, watch }: { readonly runtime: ReloadableRuntime; readonly watch: SettingsWatch },
  opened: AsyncDisposableStack,
) {
  const { folder, clock, log } = options;
  const boot = getBootId();
  const sendNotes =
    boot === undefined ? undefined : openSendNotes(folder.sendNotes, boot, { now: clock(), log });
  opened.defer(() => sendNotes?.close());
  const agents = runtime.current;
  const servicesNow = () => createRouteServices(options, runtime.current, { plugged, watch });
  const gateway = await startGateway({
    ...createGatewayOptions(options, runtime),
    ...servicesNow(),
    accounts: agents.accounts,
    sendNotes,
  });
  opened.defer(() => gateway.close(SEND_GRACE_MS));
  const { processId, shared, accounts } = agents;
  const among = isSharedStore(agents.loaded.settings) ? { processId } : null;
  opened.defer(startBoot({ ...shared, agents: agents.all, accounts, newId, shared: among }));
  opened.defer(notifyOfRollbacks({ ...shared, folder }));
  opened.defer(startAudit(() => auditInstallation(options, runtime.current), options));
  return {
    ...gateway,
    /** Applies changed settings to the accounts and pages. */
    reload: () => gateway.reload(runtime.current.accounts, servicesNow()),
  };
}

/**
 * Returns the options of the gateway. Options that depend on the settings are functions, because
 * the settings can change.
 */
function createGatewayOptions(
  options: StartOptions & OpenLog,
  runtime: Pick<ReloadableRuntime, 'current'>,
): Omit<GatewayOptions, keyof GatewayServices | 'accounts'> {
  const { secrets, token, port, role, onState } = options;
  const { processId, shared, scrape, loaded } = runtime.current;
  const { media, http } = loaded.settings;
  const { idleHours, maxDays } = http.sessions;
  return {
    ...shared,
    page: async () => (await import('@parley/console')).createConsoleRoutes('/', options.openPage),
    secrets,
    scrub: secrets.scrub,
    ...(onState === undefined ? {} : { onState }),
    media: {
      fileBytes: media.maxFileMb * MEGABYTE,
      messageBytes: media.maxMessageMb * MEGABYTE,
      keptBytes: media.maxKeptMb * MEGABYTE,
      personFiles: media.maxPersonFiles,
      // The limit for a person must allow at least one message of maximum size.
      personBytes: Math.max(media.maxPersonMb, media.maxMessageMb) * MEGABYTE,
    },
    situation: (name) => {
      const { agent, model } = findAgent(runtime.current, name) ?? runtime.current.main;
      return { agentName: agent.name, model: model.line(), models: [...model.choices.keys()] };
    },
    skillCommands: async (audience, name) =>
      (await findAgent(runtime.current, name)?.skillCommands(audience)) ?? [],
    commandServices: (name) => ({
      ...createAgentCommandServices(findAgent(runtime.current, name), runtime.current.cron, name),
      branch: async (asker, point) => {
        const { answerBranchCommand } = await import('@parley/agent/branch');
        return answerBranchCommand({ store: shared.store, clock: options.clock }, asker, point);
      },
    }),
    ...(isSharedStore(loaded.settings) && { sharedAs: processId }),
    http: {
      host: http.host,
      port: port ?? http.port,
      token,
      sessions: { idleMs: idleHours * HOUR_MS, longestMs: maxDays * 24 * HOUR_MS },
    },
    metrics: scrape,
    ...(role === 'gateway' && { workers: () => countLiveWorkers(shared.store) }),
  };
}

function createAgentCommandServices(
  parts: AgentRuntime | undefined,
  cron: AgentsRuntime['cron'],
  name: string | undefined,
): CommandServices {
  if (parts === undefined) return {};
  const { agent, soul } = parts;
  const { heartbeat } = parts.proactive;
  return {
    memory: agent.memoryCommands?.show,
    savedMemories: agent.memoryCommands?.saved,
    forget: agent.memoryCommands?.forget,
    soul: soul.command,
    heartbeat: (...asked) => heartbeat.answer(...asked),
    zone: (_asker, argument) => cron.decideZone(name, argument),
    statusLine: () => heartbeat.line(),
  };
}

/** The plugins that the process has loaded, and the watcher of its settings file. */
interface InstalledPlugins {
  readonly plugged: Pick<LoadedPlugins, 'report' | 'definitions' | 'agent'>;
  readonly watch: SettingsWatch;
}

/** Creates the services for the routes; they always use the current settings. */
function createRouteServices(
  options: StartOptions & OpenLog,
  agents: AgentsRuntime,
  { plugged, watch }: InstalledPlugins,
): GatewayServices {
  const { folder, clock } = options;
  const { shared, mcp, loaded, main } = agents;
  const { agent, model } = main;
  const { settings } = loaded;
  const hooks = openHooks(settings, shared, (name) => findAgent(agents, name));
  return {
    report: async () => {
      const { createStatusReport } = await import('./status-report.ts');
      const plugins = plugged.report;
      const { publicUrl } = settings.http;
      const place = { dataFolder: folder.path, ...(publicUrl !== undefined && { publicUrl }) };
      const facts = { agent: agent.name, model: model.line(), ...place, plugins };
      const { localTime } = agent.place;
      const self = {
        version: manifest.version,
        uptimeMs: process.uptime() * 1_000,
        memoryBytes: process.memoryUsage.rss(),
      };
      const now = { ...facts, self, mcp: mcp.lines(), settings: watch.state };
      return createStatusReport(now, shared.store, clock, localTime);
    },
    hooks,
    operations: createOperationServices(options, agents, hooks, { plugged, watch }),
    channelSettings: {
      // The module that changes access rules is loaded on first use.
      async allowGroup(...asked) {
        const { createChannelSettings } = await import('./channels.ts');
        return createChannelSettings({ ...options, channels: plugged.definitions }).allowGroup(
          ...asked,
        );
      },
    },
  };
}

/** The services that run recorded turns again, or keep them as cases; loaded on first use. */
function createReplayServices(
  options: StartOptions & OpenLog,
  agents: AgentsRuntime,
  { plugged }: InstalledPlugins,
): Pick<NonNullable<GatewayServices['operations']>, 'replays' | 'replayChoices' | 'keepCase'> {
  const { store } = agents.shared;
  return {
    async replays() {
      const { openReplays } = await import('./commands/replay/open-replays.ts');
      const deps = { ...options, store, loaded: agents.loaded };
      return (choice, ...asked) => openReplays(choice, deps)(...asked);
    },
    async replayChoices(name) {
      const { listReplayChoices } = await import('./commands/replay/list-choices.ts');
      return listReplayChoices(agents.loaded, name, options.folder);
    },
    async keepCase(name, order) {
      const { openEvaluation } = await import('./commands/eval/open-evaluation.ts');
      const { keepTurn } = await import('./commands/eval/keep-turn.ts');
      const own = { ...plugged, loaded: agents.loaded };
      return keepTurn(
        await openEvaluation({ ...options, name, store, plugged: own }),
        store,
        order,
      );
    },
  };
}

/** Creates the services for operations while a gateway is running. */
function createOperationServices(
  options: StartOptions & OpenLog,
  agents: AgentsRuntime,
  hooks: Hooks,
  { plugged, watch }: InstalledPlugins,
): NonNullable<GatewayServices['operations']> {
  const agentOf = (asked: string | undefined): AgentRuntime =>
    findAgent(agents, findChosenAgent(agents.loaded, asked).name) ?? agents.main;
  const { secrets, clock, log, folder } = options;
  const channels = plugged.definitions;
  const { store, turns, deliver } = agents.shared;
  const { settings } = agents.loaded;
  const printer = createAnswerPrinter();
  return {
    ...{ store, clock, log, newId, scrub: secrets.scrub },
    defaultAgent: settings.agent.id,
    answerPrinter: async () => printer,
    wake: (to) =>
      to.kind === 'conversation'
        ? turns.wake(to.conversationId)
        : deliver(to.chat.channel, to.chat.account, to.chat.chatId),
    agents: async () => listAgentSummaries(agents.loaded, (name) => findAgent(agents, name)),
    usage: async () => toUsageDisplaySettings(settings),
    audit: () => auditInstallation(options, agents),
    logs: async (query) => {
      const { readLogReport } = await import('./log-report.ts');
      const named = Object.values(agents.loaded.channels).map(({ channel }) => channel);
      const channels = [...new Set(named)];
      return readLogReport({ folder: folder.logs, store, channels }, query);
    },
    bugReport: async () => {
      const { collectGatewayReport } = await import('./commands/report/report.ts');
      return collectGatewayReport(options, plugged, agents.loaded);
    },
    preview: async (name) => agentOf(name).preview,
    ...createReplayServices(options, agents, { plugged, watch }),
    cron: async () => agents.cron,
    heartbeat: async (name) => agentOf(name).proactive.heartbeat,
    hooks: async () => hooks,
    ...createInstallationServices(options, agents, { plugged, watch }),
    async approvals(name) {
      const { createOperatorApprovals } = await import('./operator-approvals.ts');
      const { workspace, place } = agentOf(name).agent;
      return createOperatorApprovals({ ...options, store, workspace, name: place.name, channels });
    },
    async files(name) {
      const { agent } = agentOf(name);
      const { workspace, place } = agent;
      return { workspace, chats: listMemoryChats(workspace, place.name, store) };
    },
    promptFiles: async (name) => agentOf(name).agent.promptFiles,
    async skills(name) {
      const { setSkillEnabled } = await import('./skill-settings.ts');
      const { agent, settings } = agentOf(name);
      const deps = { ...options, channels, settings, name: agent.place.name };
      return { skills: agent.skills, turn: (...asked) => setSkillEnabled(deps, ...asked) };
    },
    async memory(name) {
      const { agent, owners } = agentOf(name);
      const { workspace, memory: service, memorySearch: search, memoryCommands } = agent;
      const chats = listMemoryChats(workspace, agent.place.name, store);
      return { workspace, service, search, commands: memoryCommands, chats, owners };
    },
    async soul(name) {
      const { soul, agent } = agentOf(name);
      return { service: soul.service, localTime: agent.place.localTime };
    },
  };
}

/**
 * Creates the services for operations that change the installation: the settings file, the
 * credentials for MCP servers, and the process itself.
 */
function createInstallationServices(
  options: StartOptions & OpenLog,
  { mcpSignIn, shared, loaded, main }: AgentsRuntime,
  { plugged, watch }: InstalledPlugins,
) {
  return {
    mcpSignIns: async () => mcpSignIn,
    async setup() {
      const { Setup } = await import('./setup-steps.ts');
      return new Setup({ ...options, ...plugged, ...shared, loaded, model: main.model });
    },
    async settingsFile() {
      const { createSettingsEditor } = await import('./settings-editor.ts');
      return createSettingsEditor(options, plugged.definitions, () => watch.state);
    },
    restart: options.onRestart,
    stop: options.onStop,
  };
}

async function countLiveWorkers(store: Pick<Store, 'processes'>): Promise<number> {
  const running = await store.processes.list();
  return running.filter(({ role }) => role !== 'gateway').length;
}

/** The settings use hours, days and megabytes; all other code uses ms and bytes. */
const HOUR_MS = 60 * 60_000;
const MEGABYTE = 1_024 * 1_024;

/**
 * Starts the web server of a worker, which serves health and metrics, and registers its cleanup in
 * `opened`.
 */
export async function composeHealth(
  { log, secrets, token, port, clock, monotonic }: StartOptions & OpenLog,
  http: LoadedSettings['settings']['http'],
  { shared: { store, turns }, scrape }: ProcessServices,
  opened: AsyncDisposableStack,
): Promise<{ readonly address: string }> {
  const server = await startHealthServer({
    host: http.host,
    port: port ?? http.port,
    token,
    clock,
    monotonic,
    log,
    secrets,
    metrics: async (health) => scrape([], await health()),
    ping: () => store.ping(),
    pingQueue: () => turns.check(),
  });
  opened.defer(() => server.close());
  return server;
}
