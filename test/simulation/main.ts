// `npm run simulation -- --seeds 1..1000 [--faults kill,pause] [--scene shared]`, described in
// README.md.
import { parseArgs } from 'node:util';
import { useMemoryFolder } from '../services/memory-folder.ts';
import { installMachine } from './engine/machine.ts';
import { plantFault } from './engine/mutate.ts';
import { MUTATIONS, type Mutation } from './mutations.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    scene: { type: 'string', multiple: true },
    faults: { type: 'string' },
    /** No further seed starts after this many seconds of real time. */
    seconds: { type: 'string' },
    /** Each seed runs twice, and both traces must be the same. */
    twice: { type: 'boolean', default: false },
    /** Stops at the first failing seed, without looking for a shorter failure. */
    'until-failure': { type: 'boolean', default: false },
    /** Plants a fault of `mutations.ts` by name. */
    mutation: { type: 'string' },
    /** Prints every step that changed a table. */
    trace: { type: 'boolean', default: false },
    /** Prints the log of all processes. */
    log: { type: 'boolean', default: false },
  },
});

// The real clock is captured first to enforce the time limit, because everything below is
// simulated.
const machineClock = { now: Date.now.bind(Date), elapsed: performance.now.bind(performance) };
// Databases commit thousands of times, and a real disk would slow them down.
const leaveMemory = useMemoryFolder();
const machine = installMachine();
const isPlanted =
  values.mutation === undefined ? () => true : plantFault(findMutation(values.mutation));
const { runSeeds } = await import('./run-seeds.ts');
const code = await runSeeds(machine, machineClock, values);
if (!isPlanted()) throw new Error('The module of the planted fault was never loaded.');
leaveMemory();
process.exit(code);

function findMutation(name: string): Mutation {
  const found = MUTATIONS.find((mutation) => mutation.name === name);
  if (found === undefined) throw new Error(`There is no planted fault "${name}".`);
  return found;
}
