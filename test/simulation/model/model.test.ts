import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isDueToday } from '@parley/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkTrace } from './allowed-steps.ts';
import { readItfTrace } from './itf-trace.ts';
import { MORE_PLANTED_FAULTS, PLANTED_FAULTS, plantFault } from './planted-faults.ts';
import { RULES } from './rules.ts';

const MODEL = join(import.meta.dirname, 'lane-and-outbox.qnt');
const PROGRAM = join(import.meta.dirname, 'model-program.ts');

/** `npm run soak:model` plays more runs, from a different seed each time, and plants all faults. */
const { PARLEY_TEST_MODEL_RUNS } = process.env;
const isSoak = PARLEY_TEST_MODEL_RUNS !== undefined;
const RUNS = Number(PARLEY_TEST_MODEL_RUNS ?? 20);
/**
 * The maximum number of runs; playing stops at the first run that breaks a rule, so this many are
 * rarely needed.
 */
const RUNS_WITH_FAULT = 2_000;
const SEED = isSoak ? Date.now() % 2 ** 31 : 7;
/**
 * Finding one fault takes a second or two, so a normal run looks for every second fault of the
 * short list.
 */
const FAULTS = isSoak
  ? [...PLANTED_FAULTS, ...MORE_PLANTED_FAULTS]
  : PLANTED_FAULTS.filter((_, nth) => isDueToday(nth, 2));
/** The number of attempts after which the model closes a turn. */
const MAX_ATTEMPTS = 3;
/** How many traces of the model the checker reads. */
const TRACES = isSoak ? 50 : 8;
/** The deadline for all runs together, in ms: a nightly test plays many. */
const TIMEOUT_MS = isSoak ? 7_200_000 : 120_000;

interface Played {
  /** What the simulator printed. */
  readonly output: string;
  /** What the checker reports for each trace that the simulator has written. */
  readonly found: readonly (readonly string[])[];
}

/** Plays models in one process; the first model is type-checked. */
async function play(folder: string, models: readonly (readonly [name: string, runs: number])[]) {
  const options = JSON.stringify({ seed: SEED, steps: 40, traces: TRACES, folder });
  const files = models.flatMap(([name, runs]) => [`${runs}`, join(folder, `${name}.qnt`)]);
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, options, ...files]);
  const played = new Map<string, Played>();
  let rest = stdout;
  for (const [name] of models) {
    const end = new RegExp(`^${name}: .*\n`, 'm').exec(rest);
    if (end === null) throw new Error(`The simulator did not finish ${name}:\n${stdout}`);
    const output = rest.slice(0, end.index + end[0].length);
    rest = rest.slice(output.length);
    played.set(name, { output, found: await checkTraces(folder, name) });
  }
  return played;
}

async function checkTraces(folder: string, name: string) {
  const files = (await readdir(folder)).filter((file) => file.startsWith(`${name}-`));
  const traces = files.map((file) => readFile(join(folder, file), 'utf8'));
  const steps = (await Promise.all(traces)).map(readItfTrace);
  return steps.map((trace) => checkTrace(trace, { maxAttempts: MAX_ATTEMPTS }));
}

describe(`[D17] the model of the lane and the outbox (seed ${SEED})`, () => {
  const faults = FAULTS.map((fault, nth) => ({ ...fault, file: `fault${nth + 1}` }));
  let folder = '';
  let model = '';
  let played: ReadonlyMap<string, Played> = new Map();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-model-'));
    model = await readFile(MODEL, 'utf8');
    await writeFile(join(folder, 'sound.qnt'), model);
    for (const fault of faults) {
      await writeFile(join(folder, `${fault.file}.qnt`), plantFault(model, fault));
    }
    const planted = faults.map(({ file }) => [file, RUNS_WITH_FAULT] as const);
    played = await play(folder, [['sound', RUNS], ...planted]);
  }, TIMEOUT_MS);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('uses the same rule names as the trace checker', () => {
    const rules = [...model.matchAll(/^ {2}val rule(\d+)_/gm)].map(([, number]) => Number(number));
    expect([0, ...rules]).toEqual(Object.keys(RULES).map(Number));
  });

  test('keeps its rules while processes die, pause and lose power', () => {
    expect(played.get('sound')?.output).toMatch(/^sound: ok$/m);
  });

  test('produces only traces that the checker accepts', () => {
    expect(played.get('sound')?.found).toEqual(Array.from({ length: TRACES }, () => []));
  });

  test.each(faults)('breaks a rule when $name', ({ file, breaks }) => {
    const { output = '' } = played.get(file) ?? {};
    expect(breaks.filter((rule) => output.includes(`rule${rule}_`))).not.toEqual([]);
  });

  test.each(faults)('is rejected by the checker when $name', ({ file, shows }) => {
    const found = played.get(file)?.found.flat() ?? [];
    expect(
      shows.filter((rule) => found.some((line) => line.startsWith(`rule ${rule} `))),
    ).not.toEqual([]);
  });
});
