// `npm run simulation -- --seeds 1..1000 [--faults kill,pause] [--scene shared]`: see README.md.
import { parseArgs } from 'node:util';
import { installMachine } from './engine/machine.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    scene: { type: 'string', multiple: true },
    faults: { type: 'string' },
    /** No further seed begins after so many seconds of the machine. */
    seconds: { type: 'string' },
    /** Each seed runs two times, and both traces must be the same. */
    twice: { type: 'boolean', default: false },
    /** Prints every step that changed a table. */
    trace: { type: 'boolean', default: false },
    /** Prints the log of all processes. */
    log: { type: 'boolean', default: false },
  },
});

// What follows is simulated, so the clock of the machine is kept for the budget of time.
const machineClock = { now: Date.now.bind(Date), elapsed: performance.now.bind(performance) };
const machine = installMachine();
const { runSeeds } = await import('./run-seeds.ts');
process.exit(await runSeeds(machine, machineClock, values));
