import type { Scene } from '../scene.ts';
import { SHARED } from './script.ts';
import { answer, people } from './talk.ts';

const CLOCKS = {
  ...SHARED,
  platforms: [{ id: 'keyed', hasKeys: true, finds: false }],
  answer,
  people,
} as const satisfies Partial<Scene>;

/** The machines of the processes agree about no time at all, and the leases must hold all the same. */
export const sharedClocks: Scene = {
  ...CLOCKS,
  name: 'shared-clocks',
  faults: ['kill', 'restart', 'pause', 'clock', 'wake-ups'],
};

/** The clock of the database server is set back while workers die, and nobody waits for the old time. */
export const databaseClock: Scene = {
  ...CLOCKS,
  name: 'database-clock',
  faults: ['kill', 'restart', 'database-clock', 'wake-ups'],
};
