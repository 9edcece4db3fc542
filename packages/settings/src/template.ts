import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { reasonOf } from '@parley/contracts';
import { configPath } from '@parley/contracts/installation';
import { SettingsError } from './settings-error.ts';
import { newestVersion, SETTINGS_STEPS, versionLine } from './settings-version.ts';

const TEMPLATE = configPath('parley.example.yaml');
/** Profiles that come with Parley. */
export const HOUSE_PROFILES = configPath('profiles/');

const SCHEMA = configPath('parley.schema.json');

/** The settings file of a first start: all but its version is explained and commented out, so defaults apply. */
export function settingsTemplate(): string {
  const line = versionLine(newestVersion(SETTINGS_STEPS));
  return readFileSync(TEMPLATE, 'utf8').replace(/^version: .*$/m, line);
}

/**
 * Writes the template to `file`, readable by its owner alone since secrets may end up in it, and beside
 * it the schema that its first line names to editors. Throws `SettingsError`, also when `file` exists.
 */
export function writeSettingsTemplate(file: string): void {
  try {
    writeFileSync(file, settingsTemplate(), { flag: 'wx', mode: 0o600 });
    copyFileSync(SCHEMA, join(dirname(file), 'parley.schema.json'));
  } catch (error) {
    throw new SettingsError(
      'settings-unwritable',
      `The settings file ${file} cannot be written: ${reasonOf(error)}. Name another place with --config or --data.`,
      error,
    );
  }
}
