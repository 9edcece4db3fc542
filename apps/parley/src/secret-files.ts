import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isMissingFile } from '@parley/core';
import type { DataFolder } from './data-folder.ts';

type SecretsFolder = Pick<DataFolder, 'path'>;

/**
 * Returns the path of a file in `secrets/` in the data folder, which only its owner can read and
 * which backups omit.
 */
export function getSecretPath({ path }: SecretsFolder, name: string): string {
  return join(path, 'secrets', name);
}

/** The file is written atomically, so that a reader never sees a partial file. */
export function writeSecretFile(folder: SecretsFolder, name: string, text: string): void {
  const file = getSecretPath(folder, name);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(unfinished, text, { mode: 0o600, flush: true });
    chmodSync(unfinished, 0o600);
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * Creates the reference to a secret for the settings file; it is relative if both files are in the
 * data folder.
 */
export function createSecretReference(
  folder: Pick<DataFolder, 'path' | 'settingsFile'>,
  name: string,
): string {
  const file = getSecretPath(folder, name);
  const isBeside = dirname(folder.settingsFile) === folder.path;
  return `\${file:${isBeside ? relative(folder.path, file) : file}}`;
}

/**
 * Writes a secret, and returns a function that restores the previous one. Settings that refer to
 * the file can be checked only after it exists, and may be refused in the check.
 */
export function replaceSecret(folder: SecretsFolder, name: string, text: string): () => void {
  const before = readSecret(getSecretPath(folder, name));
  writeSecretFile(folder, name, `${text}\n`);
  return () => {
    if (before === null) rmSync(getSecretPath(folder, name), { force: true });
    else writeSecretFile(folder, name, before);
  };
}

function readSecret(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw error;
  }
}
