import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/** All repository files except ignored ones, as relative paths; does not need git. */
export function listRepositoryFiles(): string[] {
  const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map(toPattern);
  const walk = (folder: string): string[] =>
    readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}${entry.name}`;
      const isFolder = entry.isDirectory();
      if (entry.name === '.git' || ignored.some((line) => line.test(isFolder ? `${path}/` : path)))
        return [];
      return isFolder ? walk(`${path}/`) : [path];
    });
  return walk('').toSorted();
}

/**
 * Converts a line of `.gitignore`: a name in any folder, or a path from the root; a trailing slash
 * means a folder.
 */
function toPattern(line: string): RegExp {
  const name = line.replace(/^\//, '').replace(/[.+]/g, '\\$&').replaceAll('*', '[^/]*');
  const isFromRoot = line.slice(0, -1).includes('/');
  return new RegExp(`${isFromRoot ? '^' : '(^|/)'}${name}$`);
}
