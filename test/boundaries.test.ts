import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'parley-boundaries-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const Tags = z.object({ tags: z.tuple([z.string()]) });
const Rules = z.object({ boundaries: z.object({ tags: z.record(z.string(), z.unknown()) }) });

describe('the dependency tags', () => {
  it('exist for every package and app, since a folder without a tag is not checked', () => {
    const known = Object.keys(Rules.parse(readJson('turbo.json')).boundaries.tags);
    for (const parent of ['packages', 'apps']) {
      for (const name of readdirSync(join(ROOT, parent))) {
        const [tag] = Tags.parse(readJson(join(parent, name, 'turbo.json'))).tags;
        expect(known, `${parent}/${name}`).toContain(tag);
        expect(tag.startsWith('floor-'), `${parent}/${name}: ${tag}`).toBe(parent === 'packages');
      }
    }
  });

  it.each([
    ['floor-1', 'floor-0'],
    ['floor-4', 'floor-3'],
    ['role', 'floor-4'],
    ['page', 'role'],
    ['page', 'floor-4'],
    ['cli', 'role'],
  ])('allow %s to import %s', (importer, imported) => {
    expect(boundariesReport(importer, imported)).toContain('no issues found');
  });

  it.each([
    ['floor-0', 'floor-1'],
    ['floor-1', 'floor-1'],
    ['floor-2', 'floor-3'],
    ['floor-3', 'floor-4'],
    ['floor-4', 'floor-4'],
    ['floor-4', 'role'],
    ['page', 'floor-5'],
    ['role', 'page'],
    ['role', 'role'],
  ])('do not allow %s to import %s', (importer, imported) => {
    expect(boundariesReport(importer, imported)).toContain('without any tag listed in allowlist');
  });
});

/** The report of `turbo boundaries`, under our rules, for one package that depends on another. */
function boundariesReport(importer: string, imported: string): string {
  const root = join(folder, `${importer}-${imported}`);
  write(root, 'package.json', {
    name: 'root',
    private: true,
    packageManager: 'npm@11.6.2',
    workspaces: ['packages/*'],
  });
  write(root, 'turbo.json', readJson('turbo.json'));
  write(root, 'package-lock.json', { name: 'root', lockfileVersion: 3, packages: {} });
  write(root, 'packages/above/package.json', { name: 'above', dependencies: { below: '0.1.0' } });
  write(root, 'packages/above/turbo.json', { extends: ['//'], tags: [importer] });
  write(root, 'packages/below/package.json', { name: 'below', version: '0.1.0' });
  write(root, 'packages/below/turbo.json', { extends: ['//'], tags: [imported] });
  const turbo = spawnSync(join(ROOT, 'node_modules/.bin/turbo'), ['boundaries'], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
  });
  return `${turbo.stdout}${turbo.stderr}`.replaceAll(/\n\s*\|?\s*/g, ' ');
}

function write(root: string, path: string, value: unknown): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), JSON.stringify(value));
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
}
