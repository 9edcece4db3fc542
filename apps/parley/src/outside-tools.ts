import { homedir } from 'node:os';
import type { BuiltInToolDeps } from '@parley/agent';
import type { Surroundings } from './open-skills.ts';
import type { LoadedSettings } from './read-settings.ts';

/** What the tools need that reach beyond files: commands, where they are switched on, and the web. */
export function outsideTools(
  { exec, web }: Pick<LoadedSettings['settings'], 'exec' | 'web'>,
  workspace: string,
  { folder }: Pick<Surroundings, 'folder'>,
): Pick<BuiltInToolDeps, 'exec' | 'web'> {
  if (!exec.enabled) return { web };
  return { web, exec: { ...exec, workspace, forbidden: [folder.path, homedir()] } };
}
