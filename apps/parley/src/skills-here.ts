import { type Reader, silentLogger, systemTime } from '@parley/core';
import type { OperatorSkills } from '@parley/gateway';
import { type InstallationEnv, openInstalledSkills } from './agent-sources.ts';
import { openTools } from './open-agent.ts';
import { loadPluginsForCommand } from './plug-in.ts';
import { findChosenAgent, type LoadedSettings } from './settings.ts';
import { setSkillEnabled } from './skill-settings.ts';

const OWNER: Reader = { kind: 'owner', conversationId: 'terminal' };

/**
 * Reads the skills of an agent from disk, for a command. `atEnd` registers a function to call when
 * the command has finished.
 */
export async function openSkillsForCommand(
  first: LoadedSettings,
  asked: string | undefined,
  installation: InstallationEnv,
  atEnd: (end: () => void) => void,
): Promise<OperatorSkills> {
  const {
    loaded,
    agent,
    definitions: channels,
    end,
  } = await loadPluginsForCommand(first, installation);
  atEnd(end);
  const { name, settings } = findChosenAgent(loaded, asked);
  const known = openTools(settings.tools, {}, { added: agent.tools, log: silentLogger });
  const tools = () => [...known.for(OWNER).names, 'load_skill'];
  const sources = { tools, added: agent.skills, log: silentLogger };
  const { clock } = systemTime;
  return {
    skills: openInstalledSkills(settings, installation, sources),
    turn: (...order) =>
      setSkillEnabled({ ...installation, clock, channels, settings, name }, ...order),
  };
}
