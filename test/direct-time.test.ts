import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

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

/** Our own rules, in a separate folder that is not a repository. */
const folder = mkdtempSync(join(tmpdir(), 'parley-direct-time-'));
beforeAll(() => {
  for (const name of ['biome.json', 'lint']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('system clocks and random numbers', () => {
  it.each([
    'packages/queue/src/lane.ts',
    'packages/store/src/a/b.ts',
    'apps/gateway/src/http/a.ts',
  ])('[D17] are refused by the lint rule in %s', (path) => {
    expect(refusedIn(path, [...DIRECT, ...PASSED_IN])).toEqual(DIRECT);
  });

  it.each([
    'packages/core/src/time.ts',
    'packages/simulators/src/a.ts',
    'packages/queue/src/a.test.ts',
  ])('can be used in %s', (path) => {
    expect(refusedIn(path, DIRECT)).toEqual([]);
  });
});

const Report = z.object({
  diagnostics: z.array(
    z.object({
      category: z.string(),
      location: z.object({ start: z.object({ line: z.number() }) }),
    }),
  ),
});

/** The expressions that the repository's lint rejects, in one module with a line for each. */
function refusedIn(path: string, codes: readonly string[]): string[] {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  const lines = codes.map((code, nth) => `export const planted${nth} = ${code};\n`);
  writeFileSync(join(folder, path), lines.join(''));
  const args = ['lint', '--vcs-enabled=false', '--reporter=json', path];
  const { status, stdout } = spawnSync(join(ROOT, 'node_modules/.bin/biome'), args, {
    cwd: folder,
    encoding: 'utf8',
  });
  const { diagnostics } = Report.parse(JSON.parse(stdout));
  expect(diagnostics.filter(({ category }) => category !== 'plugin')).toEqual([]);
  expect(status === 0).toBe(diagnostics.length === 0);
  const refused = new Set(diagnostics.map(({ location }) => location.start.line));
  return codes.filter((_, nth) => refused.has(nth + 1));
}
