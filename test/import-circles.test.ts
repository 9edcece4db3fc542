import { readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listRepositoryFiles } from './repository-files.ts';

const ROOT = resolve(import.meta.dirname, '..');
const IMPORT = /(?:from|import\() ?'(\.[^']+)'/g;

const sources = listRepositoryFiles().filter(
  (path) => /^(packages|apps)\/[^/]+\/src\/.*\.tsx?$/.test(path) && !path.includes('.test.'),
);
const imports = new Map(sources.map((path) => [path, importsOf(path)]));

describe('the files of a package', () => {
  it('never import each other in a circle, not even types', () => {
    const circles = sources.flatMap((path) => (reaches(path, path) ? [path] : []));
    expect(circles).toEqual([]);
    expect(sources.length).toBeGreaterThan(500);
  });

  it('have at most 400 lines each', () => {
    const long = sources.filter((path) => read(path).split('\n').length > 401);
    expect(long).toEqual([]);
  });
});

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function importsOf(path: string): readonly string[] {
  const names = Array.from(read(path).matchAll(IMPORT), ([, name]) => name ?? '');
  return names.map((name) => normalize(join(dirname(path), name)));
}

/** Whether a file imports another file, directly or indirectly. */
function reaches(from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [...(imports.get(from) ?? [])];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (path === to) return true;
    if (seen.has(path)) continue;
    seen.add(path);
    open.push(...(imports.get(path) ?? []));
  }
  return false;
}
