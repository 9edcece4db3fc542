import { createChance } from './engine/chance.ts';
import type { SimulationMachine } from './engine/machine.ts';
import { FAULT_KINDS, type FaultKind, planFaults, type SimulationFault } from './faults.ts';
import { INVARIANTS, UNSETTLED } from './invariants/index.ts';
import type { SeedResult } from './records.ts';
import type { SimulationScene } from './scene.ts';
import { SCENES, SETTLED_SCENES } from './scenes/index.ts';
import { KNOWN_SEEDS } from './seeds.ts';
import { findShortestFailure } from './shrink.ts';
import { Simulation, SPAN_MS } from './simulation.ts';
import { describeStep } from './trace.ts';

/** The command-line options. */
export interface SeedOptions {
  /** `7` or `1..1000`; when absent, as many of today's seeds as time allows. */
  readonly seeds?: string | undefined;
  readonly scene?: readonly string[] | undefined;
  readonly faults?: string | undefined;
  readonly seconds?: string | undefined;
  readonly 'until-failure'?: boolean | undefined;
  readonly twice?: boolean | undefined;
  readonly trace?: boolean | undefined;
  readonly log?: boolean | undefined;
  readonly mutation?: string | undefined;
}

/** The clocks of the real machine, in ms. */
export interface MachineClock {
  now(): number;
  elapsed(): number;
}

/** One planned run. */
interface PlannedRun {
  readonly scene: SimulationScene;
  readonly seed: number;
  readonly faults: readonly SimulationFault[];
}

const DAY_MS = 86_400_000;
/** The number of seeds set aside for a day: more than fit into any night. */
const SEEDS_A_DAY = 100_000;

/**
 * Runs the seeds one after another and prints a line for each; returns 1 when a promise was broken.
 */
export async function runSeeds(
  machine: SimulationMachine,
  clock: MachineClock,
  asked: SeedOptions,
): Promise<number> {
  const began = clock.elapsed();
  const isOver = () =>
    asked.seconds !== undefined && clock.elapsed() - began > Number(asked.seconds) * 1_000;
  let [runs, failed] = [0, 0];
  const known = listKnownRuns(asked).map(({ scene }) => scene);
  for (const scene of new Set([...known, ...selectScenes(asked.scene)])) await scene.load?.();
  for (const planned of listPlannedRuns(asked, clock.now())) {
    if (isOver()) break;
    runs += 1;
    if (!(await runPlanned(machine, planned, asked))) failed += 1;
    if (failed > 0 && asked['until-failure']) break;
  }
  const seconds = (clock.elapsed() - began) / 1_000;
  const hourly = Math.round((runs / seconds) * 3_600);
  printLine(`${runs} seeds in ${seconds.toFixed(1)} s (${hourly} an hour), ${failed} failed`);
  if (runs === 0) printLine('No seed has run, so nothing was checked.');
  return failed === 0 && runs > 0 ? 0 : 1;
}

/** Seeds that failed once; none when particular seeds are requested. */
function listKnownRuns(asked: SeedOptions): readonly PlannedRun[] {
  if (asked.seeds !== undefined) return [];
  const scenes = asked.scene === undefined ? SCENES : selectScenes(asked.scene);
  return KNOWN_SEEDS.flatMap(({ scene: name, seed, faults: count, kinds = FAULT_KINDS }) => {
    const scene = scenes.find((one) => one.name === name);
    if (scene === undefined) return [];
    return [{ scene, seed, faults: selectFaults(scene, seed, kinds).slice(0, count) }];
  });
}

/** Seeds that failed once, then the requested seeds; the scenes take turns. */
function* listPlannedRuns(asked: SeedOptions, now: number): Generator<PlannedRun> {
  const scenes = selectScenes(asked.scene);
  const kinds = selectKinds(asked.faults);
  yield* listKnownRuns(asked);
  for (const seed of listSeeds(asked.seeds, now)) {
    const scene = scenes[seed % scenes.length];
    if (scene !== undefined) yield { scene, seed, faults: selectFaults(scene, seed, kinds) };
  }
}

async function runPlanned(
  machine: SimulationMachine,
  { scene, seed, faults }: PlannedRun,
  asked: SeedOptions,
): Promise<boolean> {
  const started = process.cpuUsage();
  const all = [...INVARIANTS, ...(scene.invariants ?? [])];
  const promises = asked.scene === undefined ? all.filter((one) => !UNSETTLED.has(one)) : all;
  const run = (some: readonly SimulationFault[]) =>
    new Simulation(machine, scene, seed, promises).run(some);
  const simulation = new Simulation(machine, scene, seed, promises);
  const result = await simulation.run(faults);
  const { user, system } = process.cpuUsage(started);
  printResult(result, (user + system) / 1_000);
  if (asked.trace) for (const step of simulation.trace.steps) printLine(describeStep(step));
  if (asked.log) {
    for (const { at, process, line: text } of simulation.deployment.log) {
      printLine(`${(at / 1_000).toFixed(3)} s ${process} ${text.trim()}`);
    }
  }
  if (asked.twice) {
    const { hash } = await run(faults);
    if (hash !== result.hash) {
      printLine(`  the second run of seed ${seed} has the trace ${hash}`);
      return false;
    }
  }
  if (result.violations.length === 0) return true;
  printLine(`reproduce: ${formatCommand({ scene, seed }, asked)}`);
  if (asked['until-failure']) return false;
  for (const text of await findShortestFailure(result, run)) printLine(`  ${text}`);
  return false;
}

/** The command that repeats one run with its full trace. */
function formatCommand(
  { scene, seed }: Omit<PlannedRun, 'faults'>,
  { faults, mutation }: SeedOptions,
): string {
  const kinds = faults === undefined ? '' : ` --faults ${faults}`;
  const planted = mutation === undefined ? '' : ` --mutation '${mutation}'`;
  return `npm run simulation -- --seeds ${seed} --scene ${scene.name}${kinds}${planted} --trace --log`;
}

function selectFaults(
  scene: SimulationScene,
  seed: number,
  wanted: readonly FaultKind[],
): readonly SimulationFault[] {
  const kinds = scene.faults.filter((kind) => wanted.includes(kind));
  const chance = createChance(seed, 'faults');
  if (scene.plan !== undefined && kinds.length > 0) return scene.plan(chance);
  const processes = Object.keys(scene.processes);
  return planFaults(chance, { kinds, processes, forMs: scene.spanMs ?? SPAN_MS });
}

function selectScenes(wanted: readonly string[] | undefined): readonly SimulationScene[] {
  if (wanted === undefined) return SETTLED_SCENES;
  return wanted.map((name) => {
    const scene = SCENES.find((one) => one.name === name);
    if (scene !== undefined) return scene;
    throw new Error(
      `There is no scene "${name}". The scenes are ${SCENES.map((one) => one.name).join(', ')}.`,
    );
  });
}

function selectKinds(wanted: string | undefined): readonly FaultKind[] {
  if (wanted === undefined) return FAULT_KINDS;
  return wanted.split(',').map((name) => {
    const kind = FAULT_KINDS.find((one) => one === name);
    if (kind !== undefined) return kind;
    throw new Error(`There is no fault "${name}". The faults are ${FAULT_KINDS.join(', ')}.`);
  });
}

function* listSeeds(text: string | undefined, now: number): Generator<number> {
  const today = Math.floor(now / DAY_MS) * SEEDS_A_DAY;
  const [, from, to] =
    /^(\d+)(?:\.\.(\d+))?$/.exec(text ?? `${today}..${today + SEEDS_A_DAY}`) ?? [];
  if (from === undefined) throw new Error(`"${text}" is not a range of seeds. Write 7 or 1..1000.`);
  for (let seed = Number(from); seed <= Number(to ?? from); seed += 1) yield seed;
}

function printResult(result: SeedResult, ms: number): void {
  const { seed, scene, hash, violations, questions, answered, events } = result;
  const verdict = violations.length === 0 ? 'ok' : `FAILED ${violations[0]}`;
  const counts = `${answered}/${questions} answered, ${events} events, ${Math.round(ms)} ms of processor`;
  printLine(`seed ${seed} ${scene} ${hash} ${counts}: ${verdict}`);
}

function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}
