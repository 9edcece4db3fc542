import { fileURLToPath } from 'node:url';
import {
  type AgentPlace,
  bootSource,
  createBootstrapSource,
  localTimeIn,
  type ToolRegistry,
} from '@parley/agent';
import type { Logger } from '@parley/contracts';
import {
  type ContextSource,
  createAssembler,
  createLayerRegistry,
  firstSet,
  houseLayers,
  layoutNamed,
  type PromptAssembler,
  readIdentity,
} from '@parley/prompt';
import { openWorkspace, type Workspace } from '@parley/workspace';
import { openTools } from './open-tools.ts';
import type { LoadedSettings } from './read-settings.ts';

/** The agent of this installation: its workspace, its prompt, and what it is called. */
export interface OpenAgent {
  readonly place: AgentPlace;
  readonly workspace: Workspace;
  readonly prompt: PromptAssembler;
  /** What each feature has to say in a turn. */
  readonly sources: readonly ContextSource[];
  /** What it can do. */
  readonly tools: ToolRegistry;
  /** What it is called now; IDENTITY.md may change that at any time. */
  readonly name: string;
  readonly emoji: string | undefined;
}

const TEMPLATES = fileURLToPath(new URL('../../../config/workspace', import.meta.url));

/** Opens (at the first start: makes) the workspace and builds the prompt assembler. */
export async function openAgent(
  settings: LoadedSettings['settings'],
  log: Logger,
): Promise<OpenAgent> {
  const { agent } = settings;
  const workspace = await openWorkspace({ folder: agent.workspace, templates: TEMPLATES, log });
  const layers = createLayerRegistry(houseLayers());
  const prompt = createAssembler({ layers, layout: layoutNamed(agent.layout ?? 'parley'), log });
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
  const sources = [bootSource, createBootstrapSource(workspace)];
  const tools = openTools(settings.tools, {}, [], log);
  return { place, workspace, prompt, sources, tools, name, emoji };
}
