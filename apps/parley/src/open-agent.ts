import { homedir } from 'node:os';
import {
  type AddedTools,
  type AgentMcp,
  type AgentProfile,
  type BuiltInToolDeps,
  bootSource,
  createBootstrapSource,
  createBuiltInTools,
  createLocalTime,
  createSandboxSource,
  createSkillsSource,
  createTodosSource,
  createToolRegistry,
  NO_MCP,
  type SoulService,
  type ToolProblem,
  type ToolRegistry,
} from '@parley/agent';
import type { LiveBus, Logger, Reader } from '@parley/core';
import { getConfigPath } from '@parley/core/installation';
import { HEARTBEAT_READS } from '@parley/proactive';
import {
  applyContextSwitches,
  applyFileLimits,
  createBuiltInLayers,
  createLayerRegistry,
  createPersonaSource,
  createPromptAssembler,
  getLayout,
  IDENTITY_FILE,
  listDeclaredReads,
  mergeIdentityFields,
  type PromptAssembler,
  readChannelFormats,
  readIdentity,
} from '@parley/prompt';
import {
  createPromptFiles,
  type FilePattern,
  type ManagedFile,
  openWorkspace,
  type PromptFiles,
  toWorkspacePatterns,
  type Workspace,
  type WorkspaceLock,
} from '@parley/workspace';
import {
  type InstallationEnv,
  type MemoryStore,
  openCharacter,
  openInstalledSkills,
  openMemory,
} from './agent-sources.ts';
import { WORKSPACE_TEMPLATES } from './data-folder.ts';
import { type AgentPlugins, NO_PLUGINS } from './plug-in.ts';
import type { LoadedSettings } from './settings.ts';

export type OpenAgent = Awaited<ReturnType<typeof openAgent>>;

/**
 * Lists the other agents to which this agent may delegate tasks. `agent` is the agent's name as
 * used in conversation ids.
 */
export function listDelegates(
  { agent: { delegates } }: LoadedSettings['settings'],
  { agent }: LoadedSettings['settings'],
) {
  return delegates.map((id) => ({ id, agent: id === agent.id ? undefined : id }));
}

export interface OpenAgentOptions extends InstallationEnv {
  /** The agent's name in conversation ids; absent for the default agent (F14). */
  readonly name?: string | undefined;
  readonly settings: LoadedSettings['settings'];
  readonly log: Logger;
  readonly plugins?: AgentPlugins;
  readonly mcp?: AgentMcp;
  /**
   * The store that counts and deletes memories; absent for prompts built outside a running
   * installation.
   */
  readonly durable?: { readonly store: MemoryStore; readonly bus: LiveBus };
  /** The stores used by the tools for to-dos, delegation and other chats. */
  readonly work?: Pick<
    BuiltInToolDeps,
    | 'cron'
    | 'delegation'
    | 'messages'
    | 'documents'
    | 'sendFile'
    | 'speak'
    | 'ownMessages'
    | 'todos'
    | 'soul'
  >;
  /** The managed SOUL.md; if absent, SOUL.md is an ordinary file. */
  readonly soul?: ManagedFile & Partial<Pick<SoulService, 'sync'>>;
  /** The lock on the workspace, if several processes share it. */
  readonly lock?: WorkspaceLock | undefined;
  /** Workspace files that the agent sees with another text. */
  readonly replaced?: readonly ManagedFile[];
  /** The original folder, if this preview works on a copy of the workspace. */
  readonly copyOf?: string | undefined;
}

const OWNER: Reader = { kind: 'owner', conversationId: 'start' };

/** Opens the workspace, creating it at the first start, and the agent that uses it. */
export async function openAgent(options: OpenAgentOptions) {
  const { settings, log, plugins = NO_PLUGINS, mcp = NO_MCP, durable, work = {} } = options;
  const { soul, lock, copyOf } = options;
  const { agent } = settings;
  const { workspace: folder, memory = 'main-session' } = agent;
  const workspace = await openWorkspace({
    folder,
    templates: WORKSPACE_TEMPLATES,
    memory,
    log,
    ...(soul !== undefined && { governed: soul }),
    ...(lock !== undefined && { lock }),
    ...(options.replaced !== undefined && { replaced: options.replaced }),
  });
  await soul?.sync?.('at-once');
  // Skills, memory and tools refer to each other. The circular reference is safe, because the tools
  // are queried only during a turn.
  const skills = openInstalledSkills(settings, options, {
    tools: () => tools.for(OWNER).names,
    added: plugins.skills,
    log,
    copyOf,
  });
  const remembering = openMemory(workspace, memory, {
    offers: (reader) => tools.for(reader).get('save_memory') !== undefined,
    durable,
    log,
  });
  const own = [
    createPersonaSource(await openCharacter(agent, workspace, log)),
    bootSource,
    createBootstrapSource(workspace),
    createSkillsSource(skills),
    ...(settings.exec.enabled ? [createSandboxSource(settings.exec, workspace.folder)] : []),
    ...(work.todos === undefined ? [] : [createTodosSource(work.todos)]),
    ...remembering.sources,
  ];
  // Later sources take precedence, so Parley's own sources follow the sources of plugins.
  const sources = [...plugins.sources, ...own, ...mcp.sources];
  const hooks = [...remembering.hooks, ...plugins.hooks];
  const { prompt, reads } = await openPrompt(agent, plugins, log);
  const promptFiles = createPromptFiles([
    IDENTITY_FILE,
    ...HEARTBEAT_READS,
    ...reads,
    ...[...sources, ...hooks].flatMap(({ reads = [] }) => reads),
    // Settings and profiles also become part of the prompt, so they count as prompt files.
    ...toWorkspacePatterns(workspace.folder, [
      options.folder.settingsFile,
      options.folder.profiles,
    ]),
  ]);
  const outside = createOutsideTools(settings, { workspace, promptFiles }, options);
  const tools = openTools(
    settings.tools,
    { promptFiles, skills, ...outside, ...remembering.tools, ...work },
    { added: plugins.tools, live: mcp.tools, layout: agent.layout ?? DEFAULT_LAYOUT, log },
  );
  return {
    ...(await describeAgent(settings, workspace, options)),
    workspace,
    prompt,
    sources,
    /** The workspace files that become part of the prompt. */
    promptFiles,
    skills,
    tools,
    hooks,
    ...remembering.parts,
  };
}

async function describeAgent(
  {
    agent,
    identity: given,
    limits,
  }: Pick<LoadedSettings['settings'], 'agent' | 'identity' | 'limits'>,
  workspace: Workspace,
  { name: agentName, copyOf }: Pick<OpenAgentOptions, 'name' | 'copyOf'>,
) {
  // The agent's name is visible to everyone, so it comes from IDENTITY.md in the form that groups
  // see.
  const everyone = workspace.for({ kind: 'guest', conversationId: 'start' });
  const identity = mergeIdentityFields([given, agent]);
  const { name, emoji } = await readIdentity(everyone, { agent: identity });
  const { id, timeZone, clockMinutes, responseFormat } = agent;
  const time = { timeZone, localTime: createLocalTime(timeZone), clockMinutes };
  const place = {
    ...{ id, name: agentName, identity, workspace: copyOf ?? workspace.folder, ...time },
    responseFormat,
    turnLimits: { steps: limits.turnSteps, minutes: limits.turnMinutes },
  };
  return { place: place satisfies AgentProfile, name, emoji };
}

/**
 * Opens the agent's tools: first the built-in tools, then those from plugins and MCP servers that
 * the settings allow.
 */
export function openTools(
  { allow, block, offer }: LoadedSettings['settings']['tools'],
  own: BuiltInToolDeps,
  {
    added,
    live,
    layout,
    log,
  }: {
    readonly added: readonly AddedTools[];
    /** Returns tools that can be added or removed while the agent runs. */
    readonly live?: () => readonly AddedTools[];
    /** Decides how tools are offered, unless the settings do. */
    readonly layout?: string | undefined;
    readonly log: Logger;
  },
): ToolRegistry {
  const builtIn = createBuiltInTools(own);
  const onProblem = ({ message, ...problem }: ToolProblem) =>
    log.warn(problem, `a tool was left out: ${message}`);
  const { registry, problems } = createToolRegistry({
    builtIn,
    added,
    allow,
    block,
    byNeed:
      offer === undefined
        ? layout !== undefined && getLayout(layout).toolsByNeed === true
        : offer === 'by-need',
    ...(live !== undefined && { live, onProblem }),
  });
  problems.forEach(onProblem);
  return registry;
}

/** Creates the tools that reach beyond files: the web and, if enabled, shell commands. */
export function createOutsideTools(
  { exec, web }: Pick<LoadedSettings['settings'], 'exec' | 'web'>,
  agent: { readonly workspace: Workspace; readonly promptFiles: PromptFiles },
  { folder }: Pick<InstallationEnv, 'folder'>,
): Pick<BuiltInToolDeps, 'exec' | 'web'> {
  if (!exec.enabled) return { web };
  return { web, exec: { ...exec, ...agent, forbidden: [folder.path, homedir()] } };
}

const FORMATS = getConfigPath('channel-formats');

/** The layout that applies unless the settings or the profile name one. */
const DEFAULT_LAYOUT = 'parley';

/**
 * Returns the agent's prompt layout, including the layers from plugins. `reads` lists the workspace
 * files that the plugin layers include.
 */
async function openPrompt(
  {
    layout: name = DEFAULT_LAYOUT,
    context = {},
    prompt: limits,
  }: LoadedSettings['settings']['agent'],
  plugins: Pick<AgentPlugins, 'layers' | 'place'>,
  log: Logger,
): Promise<{ readonly prompt: PromptAssembler; readonly reads: readonly FilePattern[] }> {
  const formats = await readChannelFormats(FORMATS);
  const layers = createLayerRegistry([...createBuiltInLayers(formats), ...plugins.layers]);
  const house = applyFileLimits(getLayout(name), limits);
  const layout = applyContextSwitches(plugins.place(house, layers.get), context);
  return {
    prompt: createPromptAssembler({ layers, layout, log }),
    reads: listDeclaredReads(layers, layout),
  };
}
