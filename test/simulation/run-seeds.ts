import { chanceFor } from './engine/chance.ts';
import type { Machine } from './engine/machine.ts';
import { describeFault, FAULT_KINDS, type Fault, type FaultKind, planFaults } from './faults.ts';
import { INVARIANTS } from './invariants/index.ts';
import type { Scene } from './scene.ts';
import { SCENES } from './scenes/index.ts';
import { type Result, Simulation, SPAN_MS } from './simulation.ts';
import { describeStep } from './trace.ts';

export interface Asked {
  readonly seeds: string;
  readonly scene?: readonly string[] | undefined;
  readonly faults?: string | undefined;
  /** No further seed begins after so many seconds of the machine. */
  readonly seconds?: string | undefined;
  readonly trace?: boolean | undefined;
  readonly log?: boolean | undefined;
}

/** Runs the seeds one after the other and prints a line for each; 1 where a promise was broken. */
export async function runSeeds(
  machine: Machine,
  machineTime: () => number,
  asked: Asked,
): Promise<number> {
  const scenes = SCENES.filter(({ name }) => asked.scene?.includes(name) ?? true);
  if (scenes.length === 0) throw new Error(`There is no such scene. There are ${names(SCENES)}.`);
  await loadModules(machine, scenes);
  const began = machineTime();
  const last = asked.seconds === undefined ? Infinity : began + Number(asked.seconds) * 1_000;
  let failed = 0;
  let runs = 0;
  for (const seed of seedsOf(asked.seeds)) {
    if (machineTime() > last) break;
    const scene = scenes[seed % scenes.length];
    if (scene === undefined) continue;
    const started = machineTime();
    const faults = faultsOf(scene, seed, asked.faults);
    const simulation = new Simulation(machine, scene, seed, INVARIANTS);
    const result = await simulation.run(faults);
    print(result, machineTime() - started);
    if (asked.trace) for (const step of simulation.trace.steps) line(describeStep(step));
    if (asked.log) {
      for (const { at, process, line: text } of simulation.deployment.log) {
        line(`${(at / 1_000).toFixed(3)} s ${process} ${text.trim()}`);
      }
    }
    runs += 1;
    if (result.violations.length === 0) continue;
    failed += 1;
    await explain(machine, scene, result);
  }
  line(`${runs} seeds, ${failed} failed, ${((machineTime() - began) / 1_000).toFixed(1)} s`);
  return failed === 0 ? 0 : 1;
}

/** The first run of each scene loads modules, which takes time of the machine; its result is not counted. */
async function loadModules(machine: Machine, scenes: readonly Scene[]): Promise<void> {
  for (const scene of scenes) {
    const simulation = new Simulation(machine, scene, 0, []);
    machine.time.isLoading = true;
    await simulation.run([]);
    machine.time.isLoading = false;
  }
}

function faultsOf(scene: Scene, seed: number, only: string | undefined): readonly Fault[] {
  const wanted = only === undefined ? FAULT_KINDS : (only.split(',') as FaultKind[]);
  const kinds = scene.faults.filter((kind) => wanted.includes(kind));
  const processes = Object.keys(scene.processes);
  return planFaults(chanceFor(seed, 'faults'), {
    kinds,
    processes,
    forMs: scene.spanMs ?? SPAN_MS,
  });
}

/** The shortest prefix of the faults that still fails, found by halving. */
async function explain(machine: Machine, scene: Scene, { seed, faults }: Result): Promise<void> {
  let [enough, tooFew] = [faults.length, -1];
  let violations: readonly string[] = [];
  while (enough - tooFew > 1 || violations.length === 0) {
    const count = violations.length === 0 ? enough : Math.floor((enough + tooFew) / 2);
    const simulation = new Simulation(machine, scene, seed, INVARIANTS);
    const result = await simulation.run(faults.slice(0, count));
    if (result.violations.length > 0) [enough, violations] = [count, result.violations];
    else if (count === faults.length) {
      line(`  seed ${seed} did not fail again: the simulation is not deterministic`);
      return;
    } else tooFew = count;
  }
  line(`  fails with the first ${enough} of ${faults.length} faults:`);
  for (const fault of faults.slice(0, enough)) line(`    ${describeFault(fault)}`);
  for (const violation of violations.slice(0, 5)) line(`    ${violation}`);
  line(`  { scene: '${scene.name}', seed: ${seed}, faults: ${enough} },`);
}

function print(result: Result, ms: number): void {
  const { seed, scene, hash, violations, questions, answered, events } = result;
  const verdict = violations.length === 0 ? 'ok' : `FAILED ${violations[0]}`;
  line(
    `seed ${seed} ${scene} ${hash} ${answered}/${questions} answered, ${events} events, ${Math.round(ms)} ms: ${verdict}`,
  );
}

function seedsOf(text: string): readonly number[] {
  const [, from, to] = /^(\d+)(?:\.\.(\d+))?$/.exec(text) ?? [];
  if (from === undefined) throw new Error(`"${text}" names no seeds. Write 7 or 1..1000.`);
  const [first, last] = [Number(from), Number(to ?? from)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}

function names(scenes: readonly Scene[]): string {
  return scenes.map(({ name }) => name).join(', ');
}

function line(text: string): void {
  process.stdout.write(`${text}\n`);
}
