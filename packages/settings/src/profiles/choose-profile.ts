import type { Block } from '../block.ts';
import { isBlock } from '../block.ts';
import { oneOf } from '../expectation.ts';
import { nearest } from '../nearest.ts';
import type { SettingsProblem } from '../problem.ts';
import { problemOf, type SettingsSource } from '../source.ts';
import { loadProfile, type ProfilePlace, profileNames } from './load-profile.ts';
import { type Profile, withProfile } from './with-profile.ts';

/** The settings with their profile worked in, and what is wrong with that profile. */
export interface ProfiledSettings {
  readonly value: Block;
  readonly problems: readonly SettingsProblem[];
  readonly warnings: readonly SettingsProblem[];
  readonly secrets: readonly string[];
}

const PATH = ['agent', 'profile'];

/**
 * Works in the profile that `agent.profile` names. Without one the settings stay as they are; a name
 * that is no text is left to the check of the settings. Throws `SettingsError` as `loadProfile` does.
 */
export function chooseProfile(source: SettingsSource, place: ProfilePlace): ProfiledSettings {
  const { agent } = source.value;
  const name = isBlock(agent) ? agent.profile : undefined;
  const unchanged = { value: source.value, problems: [], warnings: [], secrets: [] };
  if (typeof name !== 'string' || !/^[\w-]+$/.test(name)) return unchanged;
  const loaded = loadProfile(name, place);
  if (loaded.kind === 'missing') {
    return { ...unchanged, problems: [unknownProfile(name, place.folders, source)] };
  }
  if (loaded.kind === 'bad') return { ...unchanged, ...loaded };
  const { profile, warnings, secrets } = loaded;
  const value = withProfile(source.value, profile);
  return { value, problems: homelessModel(profile, source), warnings, secrets };
}

function unknownProfile(
  name: string,
  folders: readonly string[],
  source: SettingsSource,
): SettingsProblem {
  const names = profileNames(folders);
  const expected = `${oneOf(names)}, or a file ${name}.yaml in ${folders[0]}`;
  const meant = nearest(name, names);
  return problemOf({ kind: 'value', path: PATH, expected, nearest: meant }, source);
}

/** A bare name says nothing about where that model is. */
function homelessModel({ modelName }: Profile, source: SettingsSource): SettingsProblem[] {
  if (modelName === undefined || source.value.model !== undefined) return [];
  const expected = `a section with the provider of "${modelName}", the model of the profile`;
  return [problemOf({ kind: 'missing', path: ['model'], expected }, source)];
}
