import type { SimulationScene } from '../scene.ts';
import { SHARED } from './script.ts';
import { answerRequest, startPeople } from './talk.ts';

const CLOCKS = {
  ...SHARED,
  platforms: [{ id: 'keyed', hasKeys: true, finds: false }],
  answer: answerRequest,
  people: startPeople,
} as const satisfies Partial<SimulationScene>;

/** The clocks of the processes disagree completely, and the leases must hold regardless. */
export const sharedClocks: SimulationScene = {
  ...CLOCKS,
  name: 'shared-clocks',
  faults: ['kill', 'restart', 'pause', 'clock', 'wake-ups'],
};

/**
 * The clock of the database server is set back while workers are killed, and no work waits until
 * the old time is reached again.
 */
export const databaseClock: SimulationScene = {
  ...CLOCKS,
  name: 'database-clock',
  faults: ['kill', 'restart', 'database-clock', 'wake-ups'],
};
