/** One part of a night run and its result. */
export interface NightPart {
  readonly script: string;
  readonly exitCode: number;
  readonly seconds: number;
}

const BESIDE_SOAKS = ['crash', 'test:without'];

/**
 * The scripts of `package.json` that run at night: all tests in full and with new seeds, the other
 * long random tests, the long form of the crash matrix, and all files that need a program, without
 * it. A new `soak:…` script is included by its name.
 */
export function listNightScripts(scripts: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(scripts).filter(
    (name) => name.startsWith('soak:') || BESIDE_SOAKS.includes(name),
  );
}

/** Runs each script, even after another has failed, so that one night finds as much as possible. */
export function runNight(
  scripts: readonly string[],
  run: (script: string) => number,
  monotonic: () => number,
): readonly NightPart[] {
  return scripts.map((script) => {
    const from = monotonic();
    const exitCode = run(script);
    return { script, exitCode, seconds: Math.round((monotonic() - from) / 1_000) };
  });
}

/** The last lines of a night run: each part with its seconds, and whether it failed. */
export function formatNightTable(parts: readonly NightPart[]): readonly string[] {
  const rows = parts.map(({ script, exitCode, seconds }) => {
    const outcome = exitCode === 0 ? 'passed' : `FAILED (exit ${exitCode})`;
    return `${String(seconds).padStart(7)}  ${script}: ${outcome}`;
  });
  return ['seconds  part', ...rows];
}
