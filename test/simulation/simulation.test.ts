import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const MAIN = join(import.meta.dirname, 'main.ts');
/**
 * How long seeds run, in seconds: seeds that failed once, then today's seeds, which change every
 * day.
 */
const SECONDS = process.env.CI === undefined ? 10 : 40;

/** Runs the simulation in a separate process, because it replaces clocks and timers. */
function simulate(...args: readonly string[]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, ...args], {
    encoding: 'utf8',
  });
  const seeds = stdout.split('\n').filter((line) => line.startsWith('seed '));
  return { status, seeds, output: `${stdout}\n${stderr}` };
}

describe('a simulated deployment', () => {
  it('[D17] [D01] [D02] [D04] [D05] [D13] upholds every guarantee under all faults of a seed', () => {
    const { status, seeds, output } = simulate('--seconds', String(SECONDS));
    expect(status, output).toBe(0);
    expect(seeds).not.toEqual([]);
  });

  it('[D17] produces the same trace for the same seed in another process', () => {
    const hashes = () => {
      const { seeds, output } = simulate('--seeds', '1..2');
      expect(seeds, output).toHaveLength(2);
      return seeds.map((line) => /^seed \d+ \S+ ([0-9a-f]{16}) /.exec(line)?.[1]);
    };
    const first = hashes();
    expect(first).not.toContain(undefined);
    expect(hashes()).toEqual(first);
  });

  it('[D17] [D01] detects a planted fault, and reports the faults involved and how to reproduce it', () => {
    const fault = ['--mutation', 'no sweep of lanes', '--scene', 'shared', '--seeds', '18'];
    const { status, output } = simulate(...fault);
    expect(status).toBe(1);
    expect(output).toMatch(/\[D01\] q\d+ of \d+ was never answered/);
    expect(output).toMatch(/fails with the first \d+ of \d+ faults/);
    expect(output).toMatch(
      /npm run simulation -- --seeds \d+ --scene shared --mutation '.*' --trace --log/,
    );
  });

  it.each([
    [['--scene', 'nowhere'], 'There is no scene "nowhere". The scenes are embedded, shared'],
    [['--faults', 'rain'], 'There is no fault "rain". The faults are kill,'],
    [['--seeds', 'all'], '"all" is not a range of seeds. Write 7 or 1..1000.'],
  ])('refuses %j and lists the valid values', (args, message) => {
    const { status, output } = simulate(...args);
    expect(status).not.toBe(0);
    expect(output).toContain(message);
  });
});
