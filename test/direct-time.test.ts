import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const DIRECT = [
  'Date.now()',
  'globalThis.Date.now()',
  '[Date.now]',
  'new Date()',
  'performance.now()',
  'performance.now.bind(performance)',
  'process.hrtime.bigint()',
  'Math.random()',
];
const PASSED_IN = ['new Date(0)', 'Date.UTC(2026, 1)', 'Math.max(1, 2)', 'setTimeout(() => {})'];

/** Our own rules, in a folder of their own that is not a repository. */
const folder = mkdtempSync(join(tmpdir(), 'parley-direct-time-'));
beforeAll(() => {
  for (const name of ['biome.json', 'lint']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the clocks and the chance of the machine', () => {
  it.each([
    'packages/queue/src/lane.ts',
    'packages/store/src/a/b.ts',
    'apps/gateway/src/http/a.ts',
  ])('[D17] are refused by the lint rule in %s', (path) => {
    expect(DIRECT.filter((code) => isRefused(path, code))).toEqual(DIRECT);
    expect(PASSED_IN.filter((code) => isRefused(path, code))).toEqual([]);
  });

  it.each([
    'packages/core/src/time.ts',
    'packages/simulators/src/a.ts',
    'packages/queue/src/a.test.ts',
  ])('may be used in %s', (path) => {
    expect(DIRECT.filter((code) => isRefused(path, code))).toEqual([]);
  });
});

/** Whether the lint of this repository has something against a module with this code. */
function isRefused(path: string, code: string): boolean {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), `export const planted = ${code};\n`);
  const args = ['lint', '--vcs-enabled=false', '--reporter=summary', path];
  const { status, stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin/biome'), args, {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) expect(`${stdout}${stderr}`).toMatch(/plugin/);
  return status !== 0;
}
