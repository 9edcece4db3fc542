import { homedir } from 'node:os';
import {
  type AddedTools,
  type AgentMcp,
  type AgentPlace,
  type BuiltInToolDeps,
  bootSource,
  builtInTools,
  createBootstrapSource,
  createToolRegistry,
  localTimeIn,
  type MemoryCommands,
  type MemoryKeeper,
  NO_MCP,
  skillsSource,
  type ToolProblem,
  type ToolRegistry,
  type TurnHook,
  todosSource,
} from '@parley/agent';
import type { LiveBus, Logger, Reader } from '@parley/contracts';
import { configPath } from '@parley/contracts/installation';
import { HEARTBEAT_READS } from '@parley/proactive';
import {
  type ContextSource,
  characterSource,
  createAssembler,
  createLayerRegistry,
  declaredReads,
  firstSet,
  houseLayers,
  IDENTITY_FILE,
  layoutNamed,
  type PromptAssembler,
  readChannelFormats,
  readIdentity,
} from '@parley/prompt';
import {
  createPromptFiles,
  type FilePattern,
  openWorkspace,
  type PromptFiles,
  patternsInside,
  type Skills,
  type Workspace,
  type WorkspaceLock,
} from '@parley/workspace';
import {
  type MemoryStore,
  openCharacter,
  openInstalledSkills,
  openMemory,
  type Surroundings,
} from './agent-sources.ts';
import { WORKSPACE_TEMPLATES } from './data-folder.ts';
import { type AgentPlugins, NO_PLUGINS } from './plug-in.ts';
import type { LoadedSettings } from './settings.ts';
import type { OpenSoul } from './soul.ts';

/** The agent of this installation: its workspace, its prompt, and what it is called. */
export interface OpenAgent {
  readonly place: AgentPlace;
  readonly workspace: Workspace;
  readonly prompt: PromptAssembler;
  /** What each feature has to say in a turn. */
  readonly sources: readonly ContextSource[];
  /** The workspace files that become prompt text: what all of these declare that they read. */
  readonly promptFiles: PromptFiles;
  readonly skills: Skills;
  /** What it can do. */
  readonly tools: ToolRegistry;
  readonly hooks: readonly TurnHook[];
  /** What was remembered; absent where memory is switched off. */
  readonly memory?: MemoryKeeper;
  readonly memoryCommands?: Partial<MemoryCommands>;
  /** What it is called now; IDENTITY.md may change that at any time. */
  readonly name: string;
  readonly emoji: string | undefined;
}

/** What an agent is opened with; what is left out, it does without. */
export interface OpenAgentOptions extends Surroundings {
  readonly settings: LoadedSettings['settings'];
  readonly log: Logger;
  readonly plugins?: AgentPlugins;
  readonly mcp?: AgentMcp;
  /** Where it is kept which memories were used, and who is whom. */
  /** Where memories are counted and forgotten; not there for prompts that belong to nothing that runs. */
  readonly durable?: { readonly store: MemoryStore; readonly bus: LiveBus };
  /** What its tools for to-dos, for handing work on and for other chats write to. */
  readonly work?: Pick<BuiltInToolDeps, 'cron' | 'delegation' | 'messages' | 'todos' | 'soul'>;
  /** Who it is; without it SOUL.md is a file like any other. */
  readonly soul?: Pick<OpenSoul, 'governed' | 'begin'>;
  /** Where several processes share the workspace. */
  readonly lock?: WorkspaceLock | undefined;
}

/** Whose tools are all tools there are. */
const OWNER: Reader = { kind: 'owner', conversationId: 'start' };

/** Opens (at the first start: makes) the workspace, and the agent that lives in it. */
export async function openAgent(options: OpenAgentOptions): Promise<OpenAgent> {
  const { settings, log, plugins = NO_PLUGINS, mcp = NO_MCP, durable, work = {} } = options;
  const { soul, lock } = options;
  const { agent } = settings;
  const { workspace: folder, memory = 'main-session' } = agent;
  const workspace = await openWorkspace({
    folder,
    templates: WORKSPACE_TEMPLATES,
    memory,
    log,
    ...(soul !== undefined && { governed: soul.governed }),
    ...(lock !== undefined && { lock }),
  });
  await soul?.begin();
  // Skills, memory and tools know of each other; what is asked of the tools is asked in a turn.
  const skills = openInstalledSkills(settings, options, {
    tools: () => tools.for(OWNER).names,
    added: plugins.skills,
    log,
  });
  const remembering = openMemory(workspace, memory, {
    offers: (reader) => tools.for(reader).get('save_memory') !== undefined,
    durable,
    log,
  });
  const house = [
    characterSource(await openCharacter(agent, workspace, log)),
    bootSource,
    createBootstrapSource(workspace),
    skillsSource(skills),
    ...(work.todos === undefined ? [] : [todosSource(work.todos)]),
    ...remembering.sources,
  ];
  // Later ones win: what Parley itself has to say stands above what plugins say.
  const sources = [...plugins.sources, ...house, ...mcp.sources];
  const hooks = [...remembering.hooks, ...plugins.hooks];
  const { prompt, reads } = await openPrompt(agent.layout ?? 'parley', plugins, log);
  const promptFiles = createPromptFiles([
    IDENTITY_FILE,
    ...HEARTBEAT_READS,
    ...reads,
    ...[...sources, ...hooks].flatMap(({ reads = [] }) => reads),
    // The ephemeral prompt, and who says what, are settings.
    ...patternsInside(workspace.folder, [options.folder.settingsFile, options.folder.profiles]),
  ]);
  const outside = outsideTools(settings, { workspace, promptFiles }, options);
  const tools = openTools(
    settings.tools,
    { promptFiles, skills, ...outside, ...remembering.tools, ...work },
    { added: plugins.tools, live: mcp.tools, log },
  );
  return {
    ...(await introduced(settings, workspace)),
    workspace,
    prompt,
    sources,
    promptFiles,
    skills,
    tools,
    hooks,
    ...remembering.parts,
  };
}

/** Where the agent is and what it is called. */
async function introduced(
  { agent, identity: given }: Pick<LoadedSettings['settings'], 'agent' | 'identity'>,
  workspace: Workspace,
): Promise<Pick<OpenAgent, 'place' | 'name' | 'emoji'>> {
  // What a group may see of IDENTITY.md is what the agent is called everywhere.
  const everyone = workspace.for({ kind: 'guest', conversationId: 'start' });
  const identity = firstSet([given, agent]);
  const { name, emoji } = await readIdentity(everyone, { agent: identity });
  const { id, timeZone } = agent;
  const localTime = localTimeIn(timeZone);
  return { place: { id, identity, workspace: workspace.folder, timeZone, localTime }, name, emoji };
}

/** What is added to Parley’s own tools. */
export interface OpenToolsOptions {
  readonly added: readonly AddedTools[];
  /** Those that come and go while it runs. */
  readonly live?: () => readonly AddedTools[];
  readonly log: Logger;
}

/** What the agent can do: Parley's own tools, then those that plugins and servers add, as the settings allow. */
export function openTools(
  { allow, block }: LoadedSettings['settings']['tools'],
  own: BuiltInToolDeps,
  { added, live, log }: OpenToolsOptions,
): ToolRegistry {
  const builtIn = builtInTools(own);
  const onProblem = ({ message, ...problem }: ToolProblem) =>
    log.warn(problem, `a tool was left out: ${message}`);
  const { registry, problems } = createToolRegistry({
    builtIn,
    added,
    allow,
    block,
    ...(live !== undefined && { live, onProblem }),
  });
  problems.forEach(onProblem);
  return registry;
}

/** What the tools need that reach beyond files: commands, where they are switched on, and the web. */
export function outsideTools(
  { exec, web }: Pick<LoadedSettings['settings'], 'exec' | 'web'>,
  agent: Pick<OpenAgent, 'workspace' | 'promptFiles'>,
  { folder }: Pick<Surroundings, 'folder'>,
): Pick<BuiltInToolDeps, 'exec' | 'web'> {
  if (!exec.enabled) return { web };
  return { web, exec: { ...exec, ...agent, forbidden: [folder.path, homedir()] } };
}

const FORMATS = configPath('channel-formats');

/**
 * What assembles an agent’s prompts: the layout of that name, with the layers that plugins add. `reads`:
 * the workspace files that they show.
 */
async function openPrompt(
  layoutName: string,
  plugins: Pick<AgentPlugins, 'layers' | 'place'>,
  log: Logger,
): Promise<{ readonly prompt: PromptAssembler; readonly reads: readonly FilePattern[] }> {
  const formats = await readChannelFormats(FORMATS);
  const layers = createLayerRegistry([...houseLayers(formats), ...plugins.layers]);
  const layout = plugins.place(layoutNamed(layoutName), layers.get);
  return {
    prompt: createAssembler({ layers, layout, log }),
    reads: declaredReads(layers, layout),
  };
}
