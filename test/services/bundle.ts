import { resolve } from 'node:path';
import { findProgram, programModule } from '@parley/cli/bundle';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * The URL of a module of the bundle, which is what users run. Throws when there is no bundle of these
 * sources: they have changed since the tests began.
 */
export function bundleModule(name: string): string {
  const program = findProgram(ROOT);
  if (program.folder === null) throw new Error(`${program.note}. Run the tests again.`);
  return programModule(ROOT, program, { name, source: '' });
}
