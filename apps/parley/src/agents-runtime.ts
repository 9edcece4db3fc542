import { openMcp } from '@parley/agent';
import { fetchPublic } from '@parley/tools/web';
import { createLocalLock } from '@parley/workspace';
import { listOwners, planAccounts } from './access.ts';
import { type AgentRuntime, type KnownModel, openAgentRuntime } from './agent-runtime.ts';
import type { LoadedPlugins } from './plug-in.ts';
import { openCron } from './proactive.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import type { ProcessServices } from './process-services.ts';
import type { LoadedSettings } from './settings.ts';

/**
 * The agents defined in the settings, and the services they share. Changed settings create a new
 * set of agents.
 */
export type AgentsRuntime = Awaited<ReturnType<typeof openAgents>>;
/** The configured MCP servers, with the settings used to connect to them. */
export type McpServices = Awaited<ReturnType<typeof openMcpServices>>;

/** Open models, which the new agents reuse when changed settings replace the old agents. */
interface KnownModels {
  readonly main: KnownModel;
  readonly named: ReadonlyMap<string, KnownModel>;
}

/** Opens all agents. `before` holds the agents that are being replaced. */
export async function openAgents(
  options: StartOptions & OpenLog,
  plugins: LoadedPlugins,
  services: ProcessServices,
  { mcp, signIn }: McpServices,
  before?: KnownModels,
) {
  const { loaded, definitions } = plugins;
  const { settings } = loaded;
  const { processId, shared, scrape } = services;
  const accounts = planAccounts(loaded, listOwners(settings), definitions);
  const cron = openCron(loaded, { ...shared, accounts });
  const common = { options, plugins, services, mcp, accounts, askCron: cron.ask };
  const main = await openAgentRuntime(settings, undefined, common, before ? [before.main] : []);
  const named = new Map<string, AgentRuntime>();
  for (const [name, own] of loaded.agents) {
    const known = before?.named.get(name);
    const models = [...(known ? [known] : []), main, ...named.values()];
    named.set(name, await openAgentRuntime(own, name, common, models));
  }
  return {
    ...{ loaded, processId, shared, scrape, accounts, cron },
    ...{ mcp, mcpSignIn: signIn },
    main,
    /** The agents other than the default one, by their names in the settings. */
    named,
    all: [main, ...named.values()] as const,
  };
}

/**
 * Finds an agent by name; without a name, returns the default agent. Returns undefined if the
 * settings define no such agent.
 */
export function findAgent(
  { main, named }: Pick<AgentsRuntime, 'main' | 'named'>,
  name: string | undefined,
): AgentRuntime | undefined {
  return name === undefined ? main : named.get(name);
}

/**
 * Opens the MCP servers, the store of their credentials, and the check that detects changed tool
 * descriptions.
 */
export async function openMcpServices(
  loaded: LoadedSettings['settings'],
  options: StartOptions & OpenLog,
  services: Pick<ProcessServices, 'shared' | 'processId'>,
) {
  const { mcp: settings } = loaded;
  if (Object.keys(settings).length === 0)
    return { settings, mcp: await openMcp(settings, options), signIn: undefined };
  const { createMcpToolChangeChecker } = await import('./commands/checks/mcp-accepted.ts');
  const { createMcpSignIns, openSignIns, createSignInLocks } = await import('./mcp-sign-ins.ts');
  const onOffer = createMcpToolChangeChecker(options.folder, options);
  const locks = await createSignInLocks(loaded, options, services, createLocalLock);
  const signInAt = openSignIns(options, locks, fetchPublic);
  return {
    settings,
    mcp: await openMcp(settings, { ...options, onOffer, signInAt }),
    signIn: createMcpSignIns(loaded, signInAt, options),
  };
}
