// `npm run simulation -- --seeds 1..1000 [--faults kill,pause] [--scene shared]`: see README.md.
import { parseArgs } from 'node:util';
import { installMachine } from './engine/machine.ts';

const machineTime = performance.now.bind(performance);
const machine = installMachine();
const { runSeeds } = await import('./run-seeds.ts');

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1..20' },
    scene: { type: 'string', multiple: true },
    faults: { type: 'string' },
    seconds: { type: 'string' },
    trace: { type: 'boolean', default: false },
    log: { type: 'boolean', default: false },
  },
});
process.exit(await runSeeds(machine, machineTime, values));
