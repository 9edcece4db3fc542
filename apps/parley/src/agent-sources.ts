import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import {
  createMemoryCommands,
  createMemoryHook,
  createMemorySource,
  type MemoryCommands,
  MemoryService,
  type TurnHook,
} from '@parley/agent';
import { RESERVED_COMMANDS, type SkillCommands } from '@parley/channels';
import { isMissingFile, type LiveBus, type Logger, type Reader, systemTime } from '@parley/core';
import { getConfigPath } from '@parley/core/installation';
import type { ContextSource, NamedText, PersonaSettings } from '@parley/prompt';
import type { MemoryIndex, Store } from '@parley/store';
import {
  listSkillFolders,
  type MemorySearch,
  openMemorySearch,
  openSkills,
  type Skills,
  type Workspace,
  type WorkspaceView,
} from '@parley/workspace';
import type { DataFolder } from './data-folder.ts';
import type { LoadedSettings } from './settings.ts';

export interface InstallationEnv {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
}

export function openInstalledSkills(
  settings: LoadedSettings['settings'],
  { folder, env }: InstallationEnv,
  {
    tools,
    added,
    log,
    copyOf,
  }: {
    /** Returns the names of the agent's tools. Called each time skills are evaluated. */
    readonly tools: () => readonly string[];
    /** Skill folders from plugins; all other skill sources take precedence over plugin skills. */
    readonly added: readonly string[];
    readonly log: Logger;
    /** The original folder, if this preview works on a copy of the workspace. */
    readonly copyOf?: string | undefined;
  },
): Skills {
  const home = homedir();
  const base = dirname(folder.settingsFile);
  const extra = settings.skills.extra.map((path) =>
    resolve(base, path.replace(/^~(?=\/|$)/, home)),
  );
  const folders = listSkillFolders({
    extra: [...added, ...extra],
    bundled: getConfigPath('skills'),
    data: folder.path,
    home,
    project: process.cwd(),
    workspace: settings.agent.workspace,
  });
  return openSkills({
    folders,
    settings: settings.skills,
    facts: () => ({ os: process.platform, env, settings, tools: new Set(tools()) }),
    reserved: RESERVED_COMMANDS,
    home,
    log,
    ...(copyOf !== undefined && { copy: { folder: settings.agent.workspace, of: copyOf } }),
  });
}

export function createSkillCommands(skills: Pick<Skills, 'userInvocable'>): SkillCommands {
  return async (audience) => {
    const kind = audience === 'owner' ? 'owner' : 'guest';
    const reader: Reader = { kind, conversationId: 'help' };
    const commands = await skills.userInvocable(reader);
    return commands.map(({ command, summary }) => ({ name: command, summary, isSkill: true }));
  };
}

export type MemoryStore = Pick<Store, 'memories' | 'forgetting' | 'links' | 'adapterValues'>;

interface MemoryServices {
  readonly tools: {
    readonly memory?: { readonly service: MemoryService; readonly search: MemorySearch };
  };
  readonly sources: readonly ContextSource[];
  readonly hooks: readonly TurnHook[];
  readonly parts: {
    readonly memory?: MemoryService;
    readonly memorySearch?: MemorySearch;
    readonly memoryCommands?: Partial<MemoryCommands>;
  };
}

interface OpenMemoryDeps {
  /** Returns whether the model is offered the tool `save_memory` for this reader. */
  readonly offers: (reader: Reader) => boolean;
  readonly durable: { readonly store: MemoryStore; readonly bus: LiveBus } | undefined;
  readonly log: Logger;
}

export function openMemory(
  workspace: Workspace,
  mode: 'main-session' | 'off',
  { offers, durable, log }: OpenMemoryDeps,
): MemoryServices {
  const store = durable?.store;
  const index = store?.memories ?? NO_INDEX;
  const service = new MemoryService({ index, log });
  const accountsOf = async (person: string): Promise<readonly string[]> => {
    const link = await store?.links.of(person);
    return [person, ...(link?.members ?? [])];
  };
  const commands =
    durable &&
    createMemoryCommands({
      ...{ service, workspace, accountsOf, clock: systemTime.clock },
      store: durable.store,
      asked: durable.store.adapterValues('parley', 'forget'),
      stopTurn: (conversationId) => durable.bus.publish({ type: 'stop-turn', conversationId }),
    });
  if (mode === 'off') {
    // People can delete their messages even when memory is off.
    const parts = commands && { memoryCommands: { forget: commands.forget } };
    return { tools: {}, sources: [], hooks: [], parts: { ...parts } };
  }
  const search = openMemorySearch(workspace);
  return {
    tools: { memory: { service, search } },
    sources: [createMemorySource({ service, search, index, accountsOf })],
    hooks: [createMemoryHook(offers)],
    parts: { memory: service, memorySearch: search, ...(commands && { memoryCommands: commands }) },
  };
}

/** The memory index used for prompts that are built outside a running installation. */
const NO_INDEX: MemoryIndex = {
  add: async () => {},
  remove: async () => {},
  rebuild: async () => {},
  used: async () => {},
  uses: async () => new Map(),
  list: async () => [],
};

const CONFIG = getConfigPath('');

type CharacterFolder = 'personas' | 'output-formats';

/**
 * Loads the persona and output format named in the settings, along with the files bundled with
 * Parley. Unknown persona and format names are logged.
 */
export async function openCharacter(
  { persona, format, ephemeral, skipContextFiles }: LoadedSettings['settings']['agent'],
  workspace: Workspace,
  log: Logger,
): Promise<PersonaSettings> {
  const view = workspace.for({ kind: 'guest', conversationId: 'start' });
  return {
    persona: await readNamedText('personas', persona, view, log),
    format: await readNamedText('output-formats', format, view, log),
    ephemeral,
    skipContextFiles,
  };
}

async function readNamedText(
  folder: CharacterFolder,
  name: string | undefined,
  view: WorkspaceView,
  log: Logger,
): Promise<NamedText | undefined> {
  if (name === undefined) return undefined;
  const builtIn = await readBuiltInText(folder, name);
  const own = await view.read(`${folder}/${name}.md`);
  if (builtIn === null && own.kind === 'absent' && own.reason === 'missing') {
    const exist = await listCharacterNames(folder, view);
    log.warn({ folder, name, exist }, 'the settings name a file that does not exist');
  }
  return { name, builtIn };
}

async function readBuiltInText(folder: CharacterFolder, name: string): Promise<string | null> {
  try {
    return (await readFile(join(CONFIG, folder, `${name}.md`), 'utf8')).trim();
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw error;
  }
}

/** Lists the available names: workspace files that everyone may see, and bundled files. */
async function listCharacterNames(folder: CharacterFolder, view: WorkspaceView): Promise<string[]> {
  const own = (await view.list()).map(({ name }) => name.split('/'));
  const files = own.flatMap(([top, file]) => (top === folder && file !== undefined ? [file] : []));
  const builtIn = await readdir(join(CONFIG, folder));
  return [...new Set([...files, ...builtIn].map((file) => file.replace(/\.md$/, '')))].toSorted();
}
