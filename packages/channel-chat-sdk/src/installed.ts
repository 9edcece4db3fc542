import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * Whether a package is in one of the folders that Node searches. The package itself is not loaded,
 * which would take as long as starting the channel.
 */
export function isInstalled(name: string): boolean {
  const folders = require.resolve.paths(name) ?? [];
  return folders.some((folder) => existsSync(join(folder, name, 'package.json')));
}
