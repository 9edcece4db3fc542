import type { SettingsChange } from '@parley/settings/edit';
import { z } from 'zod';
import { changeSettings, readAgentSections, type SettingsFileDeps } from './channels.ts';
import type { LoadedSettings } from './settings.ts';

interface SkillSettingsDeps extends SettingsFileDeps {
  readonly settings: Pick<LoadedSettings['settings'], 'skills'>;
  /**
   * The name of the agent; undefined for the default agent, which uses the lists of the
   * installation (F14).
   */
  readonly name: string | undefined;
}

/**
 * Turns a skill on or off in `skills.allow` and `skills.block` of the settings, or in the agent's
 * own lists (S09).
 */
export function setSkillEnabled(deps: SkillSettingsDeps, name: string, isOn: boolean): void {
  changeSettings(deps, listSkillChanges(name, isOn, deps), 'The settings were not changed');
}

/**
 * An inherited list, such as a profile's list, is written out in full, because the agent's own list
 * replaces it.
 */
function listSkillChanges(
  name: string,
  isOn: boolean,
  { settings: { skills }, folder, name: agent }: SkillSettingsDeps,
): readonly SettingsChange[] {
  const { path: at, values } = readAgentSections(folder, agent);
  const written = Lists.safeParse(values).data?.skills ?? {};
  const isSame = (one: string) => one.toLowerCase() === name.toLowerCase();
  const change = (list: 'allow' | 'block', isIn: boolean): SettingsChange[] => {
    const own = written[list];
    const names = own ?? skills[list] ?? [];
    const path = [...at, 'skills', list];
    const found = names.filter(isSame);
    if (isIn === found.length > 0) return [];
    if (own === undefined) {
      const value = isIn ? [...names, name] : names.filter((one) => !isSame(one));
      return [{ kind: 'set', path, value }];
    }
    if (isIn) return [{ kind: 'add', path, value: name }];
    return found.map((value) => ({ kind: 'take', path, value }));
  };
  if (!isOn) return change('block', true);
  const isLimited = (written.allow ?? skills.allow) !== undefined;
  return [...change('block', false), ...(isLimited ? change('allow', true) : [])];
}

/** The skill lists as written in the settings file. */
const Lists = z.object({
  skills: z.object({
    allow: z.array(z.string()).optional(),
    block: z.array(z.string()).optional(),
  }),
});
