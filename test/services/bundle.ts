import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findProgram, programModule } from '@parley/cli/bundle';

const ROOT = resolve(import.meta.dirname, '../..');

/** Builds the bundle unless one already exists for the current sources. */
export async function buildBundle(): Promise<void> {
  const { stderr } = await promisify(execFile)(process.execPath, [
    join(ROOT, 'apps/parley/src/build/main.ts'),
  ]);
  if (findProgram(ROOT).folder === null) throw new Error(`There is no bundle to test: ${stderr}`);
}

/**
 * The URL of a module of the bundle, which is what users run. Throws when the bundle does not match
 * the sources: they have changed since the tests started.
 */
export function getBundleModule(name: string): string {
  const program = findProgram(ROOT);
  if (program.folder === null) throw new Error(`${program.note}. Run "npm run build".`);
  return programModule(ROOT, program, { name, source: '' });
}

/** The folder of the web page in the bundle. Throws like `getBundleModule`. */
export function getBundlePage(): string {
  return fileURLToPath(new URL('page', getBundleModule('main')));
}
