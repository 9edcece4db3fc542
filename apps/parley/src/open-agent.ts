import { fileURLToPath } from 'node:url';
import {
  type AgentMcp,
  type AgentPlace,
  type BuiltInToolDeps,
  bootSource,
  createBootstrapSource,
  localTimeIn,
  type MemoryDesk,
  type MemoryKeeper,
  NO_MCP,
  skillsSource,
  type ToolRegistry,
  type TurnHook,
  todosSource,
} from '@parley/agent';
import type { Logger, Reader } from '@parley/contracts';
import {
  type ContextSource,
  characterSource,
  createAssembler,
  createLayerRegistry,
  firstSet,
  houseLayers,
  layoutNamed,
  type PromptAssembler,
  readChannelFormats,
  readIdentity,
} from '@parley/prompt';
import { openWorkspace, type Skills, type Workspace } from '@parley/workspace';
import { openCharacter } from './open-character.ts';
import { type MemoryStore, openMemory } from './open-memory.ts';
import { openInstalledSkills, type Surroundings } from './open-skills.ts';
import { openTools } from './open-tools.ts';
import { outsideTools } from './outside-tools.ts';
import { type AgentPlugins, NO_PLUGINS } from './plug-in.ts';
import type { LoadedSettings } from './read-settings.ts';
import { WORKSPACE_TEMPLATES } from './workspace-templates.ts';

/** The agent of this installation: its workspace, its prompt, and what it is called. */
export interface OpenAgent {
  readonly place: AgentPlace;
  readonly workspace: Workspace;
  readonly prompt: PromptAssembler;
  /** What each feature has to say in a turn. */
  readonly sources: readonly ContextSource[];
  readonly skills: Skills;
  /** What it can do. */
  readonly tools: ToolRegistry;
  readonly hooks: readonly TurnHook[];
  /** What was remembered; absent where memory is switched off. */
  readonly memory?: MemoryKeeper;
  readonly memoryDesk?: MemoryDesk;
  /** What it is called now; IDENTITY.md may change that at any time. */
  readonly name: string;
  readonly emoji: string | undefined;
}

const FORMATS = fileURLToPath(new URL('../../../config/channel-formats', import.meta.url));

/** Whose tools are all tools there are. */
const OWNER: Reader = { kind: 'owner', conversationId: 'start' };

/** Opens (at the first start: makes) the workspace and builds the prompt assembler, with what plugins add. */
export async function openAgent(
  settings: LoadedSettings['settings'],
  log: Logger,
  surroundings: Surroundings,
  plugins: AgentPlugins = NO_PLUGINS,
  mcp: AgentMcp = NO_MCP,
  memoryStore?: MemoryStore,
  own: Pick<BuiltInToolDeps, 'delegation' | 'todos'> = {},
): Promise<OpenAgent> {
  const { agent } = settings;
  const { workspace: folder, memory = 'main-session' } = agent;
  const workspace = await openWorkspace({ folder, templates: WORKSPACE_TEMPLATES, memory, log });
  const formats = await readChannelFormats(FORMATS);
  const layers = createLayerRegistry([...houseLayers(formats), ...plugins.layers]);
  const layout = plugins.place(layoutNamed(agent.layout ?? 'parley'), layers.get);
  const prompt = createAssembler({ layers, layout, log });
  // What a group may see of IDENTITY.md is what the agent is called everywhere.
  const everyone = workspace.for({ kind: 'guest', conversationId: 'start' });
  const identity = firstSet([settings.identity, agent]);
  const { name, emoji } = await readIdentity(everyone, { agent: identity });
  const place = {
    id: agent.id,
    identity,
    workspace: workspace.folder,
    timeZone: agent.timeZone,
    localTime: localTimeIn(agent.timeZone),
  };
  const character = characterSource(await openCharacter(agent, workspace, log));
  const skills = openInstalledSkills(settings, surroundings, {
    tools: () => tools.for(OWNER).names,
    added: plugins.skills,
    log,
  });
  const remembering = openMemory(workspace, memory, {
    offers: (reader) => tools.for(reader).get('save_memory') !== undefined,
    store: memoryStore,
    log,
  });
  const house = [
    character,
    bootSource,
    createBootstrapSource(workspace),
    skillsSource(skills),
    ...(own.todos === undefined ? [] : [todosSource(own.todos)]),
    ...remembering.sources,
  ];
  // Later ones win: what Parley itself has to say stands above what plugins say.
  const sources = [...plugins.sources, ...house, ...mcp.sources];
  const tools = openTools(
    settings.tools,
    {
      skills,
      ...outsideTools(settings, workspace.folder, surroundings),
      ...remembering.tools,
      ...own,
    },
    plugins.tools,
    log,
    mcp.tools,
  );
  const hooks = [...remembering.hooks, ...plugins.hooks];
  return {
    place,
    workspace,
    prompt,
    sources,
    skills,
    tools,
    hooks,
    name,
    emoji,
    ...remembering.parts,
  };
}
