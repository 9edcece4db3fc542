import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { RESERVED_COMMANDS, type SkillCommands } from '@parley/channels';
import type { Logger, Reader } from '@parley/contracts';
import { configPath } from '@parley/contracts/installation';
import { openSkills, type Skills, skillFolders } from '@parley/workspace';
import type { DataFolder } from './data-folder.ts';
import type { LoadedSettings } from './read-settings.ts';

/** Where an installation is. */
export interface Surroundings {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
}

/** What else skills depend on. */
export interface SkillDeps {
  /** The names of the agent's tools; asked whenever skills are looked at. */
  readonly tools: () => readonly string[];
  /** Folders that plugins bring; every other source wins over them. */
  readonly added?: readonly string[];
  readonly log: Logger;
}

const BUNDLED = configPath('skills');

/** The skills of this installation, from all six sources (S02). */
export function openInstalledSkills(
  settings: LoadedSettings['settings'],
  { folder, env }: Surroundings,
  { tools, added = [], log }: SkillDeps,
): Skills {
  const home = homedir();
  const base = dirname(folder.settingsFile);
  const extra = settings.skills.extra.map((path) =>
    resolve(base, path.replace(/^~(?=\/|$)/, home)),
  );
  const folders = skillFolders({
    extra: [...added, ...extra],
    bundled: BUNDLED,
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
  });
}

/** The commands of skills as the gateway lists them. */
export function skillCommandsOf(skills: Pick<Skills, 'userInvocable'>): SkillCommands {
  return async (audience) => {
    const kind = audience === 'owner' ? 'owner' : 'guest';
    const reader: Reader = { kind, conversationId: 'help' };
    const commands = await skills.userInvocable(reader);
    return commands.map(({ command, summary }) => ({ name: command, summary }));
  };
}
