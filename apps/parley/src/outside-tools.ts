import { homedir } from 'node:os';
import type { BuiltInToolDeps } from '@parley/agent';
import type { OpenAgent } from './open-agent.ts';
import type { Surroundings } from './open-skills.ts';
import type { LoadedSettings } from './read-settings.ts';

/** What the tools need that reach beyond files: commands, where they are switched on, and the web. */
export function outsideTools(
  { exec, web }: Pick<LoadedSettings['settings'], 'exec' | 'web'>,
  agent: Pick<OpenAgent, 'workspace' | 'promptFiles'>,
  { folder }: Pick<Surroundings, 'folder'>,
): Pick<BuiltInToolDeps, 'exec' | 'web'> {
  if (!exec.enabled) return { web };
  return { web, exec: { ...exec, ...agent, forbidden: [folder.path, homedir()] } };
}
