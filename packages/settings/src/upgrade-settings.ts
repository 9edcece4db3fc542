import { copyFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { reasonOf } from '@parley/contracts';
import { parseDocument } from 'yaml';
import { LARGEST_SETTINGS_BYTES, readTextFile } from './read-text.ts';
import { SettingsError } from './settings-error.ts';
import {
  SETTINGS_STEPS,
  type SettingsStep,
  upgradeDocument,
  type VersionCheck,
} from './settings-version.ts';

/** What became of the file; `kept` is where the old one lies. */
export type SettingsUpgrade =
  | Exclude<VersionCheck, { kind: 'upgraded' }>
  | { readonly kind: 'missing' | 'broken' }
  | {
      readonly kind: 'upgraded';
      readonly from: number;
      readonly to: number;
      readonly kept: string;
    };

/**
 * Writes an older settings file as this Parley's version has it, comments kept, and leaves the old one
 * beside it. Throws `SettingsError` when the file cannot be read or written; a broken one is left alone.
 */
export function upgradeSettings(
  file: string,
  steps: readonly SettingsStep[] = SETTINGS_STEPS,
): SettingsUpgrade {
  const read = readTextFile(file, LARGEST_SETTINGS_BYTES);
  if (read.kind === 'missing') return { kind: 'missing' };
  const document = parseDocument(read.text, { schema: 'core', logLevel: 'error' });
  if (document.errors.length > 0) return { kind: 'broken' };
  const check = upgradeDocument(document, steps);
  if (check.kind !== 'upgraded') return check;
  const kept = `${file}.version-${check.from}`;
  try {
    copyFileSync(file, kept);
    writeFileSync(`${file}.new`, document.toString({ lineWidth: 0 }), {
      mode: statSync(file).mode & 0o777,
    });
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new SettingsError(
      'settings-unwritable',
      `${file} cannot be written (${reasonOf(error)}). Make it and its folder writable.`,
      error,
    );
  }
  return { ...check, kept };
}
