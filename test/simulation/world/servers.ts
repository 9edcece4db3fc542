import { join } from 'node:path';
import type { RandomChance } from '../engine/chance.ts';
import type { SimulatedProcess } from '../engine/virtual-time.ts';
import type { Simulation } from '../simulation.ts';
import type { SharedServers } from './servers-now.ts';

/** The servers that the processes of a simulation share. */
export function createSharedServers(simulation: Simulation, chance: RandomChance): SharedServers {
  const { time, folder } = simulation;
  const listeners = new Map<SimulatedProcess | undefined, Set<(event: never) => void>>();
  return {
    database: join(folder, 'parley.db'),
    queue: join(folder, 'queue.db'),
    marks: new Map(),
    isQueueAway: () => simulation.is('queue-away'),
    wakeUp: (): 'stored' | 'lost' | 'doubled' | 'away' => {
      if (simulation.is('queue-away')) return 'away';
      if (!simulation.is('wake-ups')) return 'stored';
      return chance.one(['stored', 'lost', 'doubled']);
    },
    listen: (hear: (event: never) => void) => {
      const { process } = time;
      const own = listeners.get(process) ?? new Set();
      listeners.set(process, own.add(hear));
      return () => void own.delete(hear);
    },
    tell: (event: object) => {
      for (const [process, own] of listeners) {
        if (process === time.process || process?.alive === false) continue;
        if (simulation.is('queue-away')) continue;
        if (simulation.is('wake-ups') && chance.happens(0.5)) continue;
        time.as(process, () => {
          time.plan(chance.between(1, 30), () => {
            for (const hear of own) hear(event as never);
          });
        });
      }
    },
  };
}
