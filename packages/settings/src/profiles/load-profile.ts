import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '@parley/contracts';
import type { z } from 'zod';
import { allowedAt } from '../allowed.ts';
import { isBlock } from '../block.ts';
import { type Checked, check } from '../check.ts';
import { collectSecrets } from '../collect-secrets.ts';
import { parseSettings } from '../document.ts';
import { profileJsonSchema } from '../json-schema.ts';
import type { SettingsProblem } from '../problem.ts';
import { LARGEST_SETTINGS_BYTES, readTextFile } from '../read-text.ts';
import { type Environment, resolveReferences } from '../references.ts';
import { problemOf, type SettingsSource } from '../source.ts';
import { ProfileSettings } from './profile-schema.ts';
import type { Profile } from './with-profile.ts';

/** Where profiles are looked for and how they are checked. */
export interface ProfilePlace {
  /** The first folder that has the file is taken. */
  readonly folders: readonly string[];
  readonly env: Environment;
  readonly modelSchema: z.ZodType;
}

/** What became of a profile file. `secrets` is what logs must never show. */
export type LoadedProfile =
  | { readonly kind: 'missing' }
  | ({ readonly warnings: readonly SettingsProblem[]; readonly secrets: readonly string[] } & (
      | { readonly kind: 'ok'; readonly profile: Profile }
      | { readonly kind: 'bad'; readonly problems: readonly SettingsProblem[] }
    ));

/** Reads and checks `<folder>/<name>.yaml`. Throws `SettingsError` when the file cannot be read at all. */
export function loadProfile(name: string, place: ProfilePlace): LoadedProfile {
  for (const folder of place.folders) {
    const file = join(folder, `${name}.yaml`);
    const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
    if (read.kind === 'text') return inFile(checkProfile(file, read.text, place), file);
  }
  return { kind: 'missing' };
}

/** The names that can be chosen, sorted. A folder that is not there holds none. */
export function profileNames(folders: readonly string[]): readonly string[] {
  const names = folders.flatMap((folder) => {
    try {
      return readdirSync(folder).filter((file) => file.endsWith('.yaml'));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw new Error(`The profiles in ${folder} cannot be listed: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  });
  return [...new Set(names.map((file) => file.slice(0, -'.yaml'.length)))].toSorted();
}

function checkProfile(file: string, text: string, place: ProfilePlace): LoadedProfile {
  const document = parseSettings(text);
  if (document.kind === 'broken') {
    return { kind: 'bad', problems: document.problems, warnings: [], secrets: [] };
  }
  const resolved = resolveReferences(document.value, place.env, file);
  const secrets = collectSecrets(resolved);
  const source: SettingsSource = {
    value: resolved.value,
    outside: resolved.outside,
    secrets,
    locate: document.locate,
    allowedAt: (path) => allowedAt(profileJsonSchema(ProfileSettings, place.modelSchema), path),
  };
  const profile = check(ProfileSettings, resolved.value, [], source);
  const model = checkModel(resolved.value.model, source, place.modelSchema);
  const warnings = [...document.warnings, ...profile.warnings, ...(model?.warnings ?? [])];
  const references = resolved.problems.map((p) => problemOf({ kind: 'reference', ...p }, source));
  const wrong = [profile, model].flatMap((part) => (part?.kind === 'bad' ? part.problems : []));
  const problems = [...references, ...wrong];
  if (profile.kind === 'bad' || problems.length > 0) {
    return { kind: 'bad', problems, warnings, secrets };
  }
  const { model: written, ...rest } = ProfileSettings.parse(profile.cleaned);
  if (written === undefined) return { kind: 'ok', profile: rest, warnings, secrets };
  const chosen = model?.kind === 'ok' ? { model: model.cleaned } : { modelName: String(written) };
  return { kind: 'ok', profile: { ...rest, ...chosen }, warnings, secrets };
}

/** Undefined where there is no model, and where a word is none of the models' own and so names one. */
function checkModel(
  written: unknown,
  source: SettingsSource,
  schema: z.ZodType,
): Checked<unknown> | undefined {
  if (isBlock(written) || (typeof written === 'string' && schema.safeParse(written).success)) {
    return check(schema, written, ['model'], source);
  }
  return undefined;
}

function inFile(loaded: LoadedProfile, file: string): LoadedProfile {
  if (loaded.kind === 'missing') return loaded;
  const name = (problem: SettingsProblem): SettingsProblem => ({ ...problem, file });
  const warnings = loaded.warnings.map(name);
  if (loaded.kind === 'ok') return { ...loaded, warnings };
  return { ...loaded, warnings, problems: loaded.problems.map(name) };
}
