import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * Whether a package is in one of the folders in which Node searches for it. Nothing of it is loaded,
 * because that takes as long as a start.
 */
export function isInstalled(name: string): boolean {
  const folders = require.resolve.paths(name) ?? [];
  return folders.some((folder) => existsSync(join(folder, name, 'package.json')));
}
