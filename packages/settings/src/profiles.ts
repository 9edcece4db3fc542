import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isMissingFile, reasonOf } from '@parley/core';
import { getConfigPath } from '@parley/core/installation';
import { z } from 'zod';
import { createProfileEntryLookup } from './allowed.ts';
import { type CheckResult, checkValue, findNearestWord, formatOneOf } from './check.ts';
import { CoreSettings } from './core-schema.ts';
import { parseSettings } from './document.ts';
import {
  collectSecrets,
  type Environment,
  type ReadMissingSecret,
  resolveReferences,
} from './secrets.ts';
import { LARGEST_SETTINGS_BYTES, readTextFile } from './settings-file.ts';
import {
  type Block,
  getValueAt,
  isBlock,
  type SettingsFinding,
  type SettingsPath,
  type SettingsProblem,
  type SettingsSource,
  toSettingsProblem,
} from './source.ts';

/** The settings with their profile applied, and the problems of that profile. */
export interface ProfiledSettings {
  readonly value: Block;
  readonly problems: readonly SettingsProblem[];
  readonly warnings: readonly SettingsProblem[];
  readonly secrets: readonly string[];
  /** Files with values to which the profile refers. */
  readonly files: readonly string[];
}

/**
 * Applies the profile in `agent.profile`. Without a profile, the settings stay unchanged; a name
 * that is not text is left for the check of the settings to report. Throws `SettingsError` in the
 * same cases as `loadProfile`.
 */
export function chooseProfile(source: SettingsSource, place: ProfileScope): ProfiledSettings {
  const { profile, ...found } = loadProfileAt(['agent', 'profile'], source, place);
  if (profile === undefined) return { value: source.value, ...found };
  const value = mergeProfile(source.value, profile);
  return { ...found, value, problems: findModelWithoutProvider(profile, source) };
}

/**
 * Loads the profile named at `path` as in `chooseProfile`; the result has no profile if there is no
 * valid one.
 */
export function loadProfileAt(
  path: SettingsPath,
  source: SettingsSource,
  place: ProfileScope,
): Omit<ProfiledSettings, 'value'> & { readonly profile?: Profile } {
  const name = getValueAt(source.value, path);
  const nothing = { problems: [], warnings: [], secrets: [], files: [] };
  if (typeof name !== 'string' || !/^[\w-]+$/.test(name)) return nothing;
  const loaded = loadProfile(name, place);
  if (loaded.kind !== 'missing') return { ...nothing, ...loaded };
  const names = listProfileNames(place.folders);
  const expected = `${formatOneOf(names)}, or a file ${name}.yaml in ${place.folders[0]}`;
  const finding: SettingsFinding = {
    kind: 'value',
    path,
    expected,
    nearest: findNearestWord(name, names),
  };
  return { ...nothing, problems: [toSettingsProblem(finding, source)] };
}

/**
 * Reports a profile that names a model without a provider if the settings do not name a provider
 * either.
 */
function findModelWithoutProvider(
  { modelName }: Profile,
  source: SettingsSource,
): SettingsProblem[] {
  if (modelName === undefined || source.value.model !== undefined) return [];
  const expected = `a section with the provider of the profile's model "${modelName}"`;
  return [toSettingsProblem({ kind: 'missing', path: ['model'], expected }, source)];
}

export interface ProfileScope {
  /** The folders to search; the first one with the file is used. */
  readonly folders: readonly string[];
  readonly env: Environment;
  readonly missingSecret?: ReadMissingSecret | undefined;
  readonly modelSchema: z.ZodType;
}

/** The result of reading a profile; `secrets` are values that logs must never show. */
export type LoadedProfile =
  | { readonly kind: 'missing' }
  | (Pick<ProfiledSettings, 'warnings' | 'secrets' | 'files'> &
      (
        | { readonly kind: 'ok'; readonly profile: Profile }
        | { readonly kind: 'bad'; readonly problems: readonly SettingsProblem[] }
      ));

/** Reads and checks `<folder>/<name>.yaml`. Throws `SettingsError` when the file cannot be read. */
function loadProfile(name: string, place: ProfileScope): LoadedProfile {
  for (const folder of place.folders) {
    const file = join(folder, `${name}.yaml`);
    const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
    if (read.kind === 'text') return locateInFile(checkProfile(file, read.text, place), file);
  }
  return { kind: 'missing' };
}

/** The profiles included with Parley. */
const HOUSE_PROFILES = getConfigPath('profiles/');

/** The folders with profiles, in the order in which they are searched. */
export function listProfileFolders(
  dataFolder: string,
  houseProfiles: string = HOUSE_PROFILES,
): readonly string[] {
  return [join(resolve(dataFolder), 'profiles'), houseProfiles];
}

/** Lists the names of the available profiles, sorted; a missing folder is treated as empty. */
export function listProfileNames(folders: readonly string[]): readonly string[] {
  const names = folders.flatMap((folder) => {
    try {
      return readdirSync(folder).filter((file) => file.endsWith('.yaml'));
    } catch (error) {
      if (isMissingFile(error)) return [];
      throw new Error(`The profiles in ${folder} cannot be listed: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  });
  return [...new Set(names.map((file) => file.slice(0, -'.yaml'.length)))].toSorted();
}

function checkProfile(file: string, text: string, place: ProfileScope): LoadedProfile {
  // No upgrade steps are needed, because no profile key was ever renamed.
  const document = parseSettings(text, []);
  if (document.kind === 'broken') {
    return { kind: 'bad', problems: document.problems, warnings: [], secrets: [], files: [] };
  }
  const resolved = resolveReferences(document.value, place.env, file, place.missingSecret);
  const secrets = collectSecrets(resolved);
  const { files } = resolved;
  const source: SettingsSource = {
    value: resolved.value,
    outside: resolved.outside,
    secrets,
    locate: document.locate,
    allowedAt: createProfileEntryLookup(ProfileSettings, place.modelSchema),
  };
  const profile = checkValue(ProfileSettings, resolved.value, [], source);
  const model = checkModel(resolved.value.model, source, place.modelSchema);
  const warnings = [...document.warnings, ...profile.warnings, ...(model?.warnings ?? [])];
  const references = resolved.problems.map((p) =>
    toSettingsProblem({ kind: 'reference', ...p }, source),
  );
  const wrong = [profile, model].flatMap((part) => (part?.kind === 'bad' ? part.problems : []));
  const problems = [...references, ...wrong];
  if (profile.kind === 'bad' || problems.length > 0) {
    return { kind: 'bad', problems, warnings, secrets, files };
  }
  const { model: written, ...rest } = ProfileSettings.parse(profile.cleaned);
  if (written === undefined) return { kind: 'ok', profile: rest, warnings, secrets, files };
  const chosen = model?.kind === 'ok' ? { model: model.cleaned } : { modelName: String(written) };
  return { kind: 'ok', profile: { ...rest, ...chosen }, warnings, secrets, files };
}

/**
 * Validates a profile's model; undefined if there is none or it is a word that only names a model.
 */
function checkModel(
  written: unknown,
  source: SettingsSource,
  schema: z.ZodType,
): CheckResult<unknown> | undefined {
  if (isBlock(written) || (typeof written === 'string' && schema.safeParse(written).success)) {
    return checkValue(schema, written, ['model'], source);
  }
  return undefined;
}

function locateInFile(loaded: LoadedProfile, file: string): LoadedProfile {
  if (loaded.kind === 'missing') return loaded;
  const name = (problem: SettingsProblem): SettingsProblem => ({ ...problem, file });
  const warnings = loaded.warnings.map(name);
  if (loaded.kind === 'ok') return { ...loaded, warnings };
  return { ...loaded, warnings, problems: loaded.problems.map(name) };
}

/** A validated profile; `modelName` is separate because it fills one key in the `model` section. */
export interface Profile extends Omit<ProfileSettings, 'model'> {
  readonly model?: unknown;
  readonly modelName?: string;
}

/**
 * Merges the profile's content into the settings, as if the settings file also contained it (P15).
 * The file itself takes precedence, key by key. A list in the file replaces the profile's list, and
 * a model in the file replaces the profile's model. Defaults are applied later, so they have the
 * lowest precedence.
 */
export function mergeProfile(written: Block, profile: Profile): Block {
  const { skills, tools, plugins, model, modelName, ...agent } = profile;
  return dropUndefinedKeys({
    ...written,
    agent: mergeProfileDefaults(written.agent, agent),
    skills: mergeProfileDefaults(written.skills, skills),
    tools: mergeProfileDefaults(written.tools, tools),
    plugins: written.plugins ?? plugins,
    model: resolveModel(written.model, model, modelName),
  });
}

/**
 * Merges a profile below the written settings. A value that is not a block stays as written, for
 * the later check to report.
 */
function mergeProfileDefaults(written: unknown, profile: Block | undefined): unknown {
  if (written === undefined) return profile;
  if (!isBlock(written) || profile === undefined) return written;
  const both = Object.entries(profile).flatMap(([key, value]) =>
    isBlock(value) && key in written
      ? [[key, mergeProfileDefaults(written[key], value)] as const]
      : [],
  );
  return { ...profile, ...written, ...Object.fromEntries(both) };
}

/**
 * Returns the effective model: a model in the settings takes precedence, and a name alone only
 * fills its `model` key.
 */
export function resolveModel(
  written: unknown,
  model: unknown,
  modelName: string | undefined,
): unknown {
  if (written === undefined) return model;
  if (modelName === undefined || !isBlock(written)) return written;
  return { model: modelName, ...written };
}

function dropUndefinedKeys(block: Block): Block {
  return Object.fromEntries(Object.entries(block).filter(([, value]) => value !== undefined));
}

const { layout, persona, format, responseFormat, memory, skipContextFiles, context, ephemeral } =
  CoreSettings.shape.agent.unwrap().shape;

const Names = z.array(z.string().min(1));

/**
 * A profile file (P15), which defines an agent in one place. Each key has the same meaning as in
 * the settings. Keys do not have defaults here, so that missing keys stay undefined.
 */
const ProfileSettings = z.strictObject({
  layout,
  persona,
  format,
  responseFormat,
  memory,
  skipContextFiles,
  context,
  ephemeral,
  skills: z
    .strictObject({
      allow: Names.optional(),
      block: Names.optional(),
      show: z.enum(['outline', 'inline']).optional(),
      entries: CoreSettings.shape.skills.unwrap().shape.entries.unwrap().optional(),
    })
    .optional(),
  tools: z.strictObject({ allow: Names.optional(), block: Names.optional() }).optional(),
  plugins: CoreSettings.shape.plugins.unwrap().optional(),
  /** Either a block as in the settings, or the name of a model of the provider in the settings. */
  model: z.union([z.string().min(1), z.record(z.string(), z.unknown())]).optional(),
});
type ProfileSettings = z.input<typeof ProfileSettings>;
