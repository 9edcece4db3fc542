// `npm run night`: runs in full the tests that a normal run covers only partly. Exits with 1 when a
// part fails.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { formatNightTable, listNightScripts, runNight } from './run-night.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const Scripts = z.object({ scripts: z.record(z.string(), z.string()) });

const { scripts } = Scripts.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
const run = (script: string): number => {
  process.stdout.write(`\n== ${script}\n`);
  const { status } = spawnSync('npm', ['run', script], {
    cwd: ROOT,
    env: { ...process.env, PARLEY_TEST_WHOLE: '1' },
    stdio: 'inherit',
  });
  return status ?? 1;
};
const parts = runNight(listNightScripts(scripts), run, () => performance.now());
process.stdout.write(`\n${formatNightTable(parts).join('\n')}\n`);
process.exitCode = parts.every(({ exitCode }) => exitCode === 0) ? 0 : 1;
