import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { formatNightTable, listNightScripts, runNight } from './run-night.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')));

describe('a night run', () => {
  it('[U09] includes every long test in package.json, even future ones, and no other script', () => {
    expect(listNightScripts(scripts)).toEqual(
      expect.arrayContaining([
        'crash',
        'test:without',
        'soak:privacy',
        'soak:properties',
        'soak:markup',
      ]),
    );
    expect(listNightScripts({ build: '', 'soak:new': '', test: '', crash: '', night: '' })).toEqual(
      ['soak:new', 'crash'],
    );
  });

  it('[U09] continues after a failed part, and ends with a list of parts and their seconds', () => {
    let now = 0;
    const run = (script: string): number => {
      now += 61_400;
      return script === 'b' ? 3 : 0;
    };
    const parts = runNight(['a', 'b', 'c'], run, () => now);
    expect(formatNightTable(parts)).toEqual([
      'seconds  part',
      '     61  a: passed',
      '     61  b: FAILED (exit 3)',
      '     61  c: passed',
    ]);
  });

  it('[U09] is documented, with the switch for a full run', () => {
    for (const page of ['CONTRIBUTING.md', 'test/README.md']) {
      expect([page, read(page)]).toEqual([page, expect.stringContaining('npm run night')]);
      expect([page, read(page)]).toEqual([page, expect.stringContaining('PARLEY_TEST_WHOLE')]);
    }
  });
});
