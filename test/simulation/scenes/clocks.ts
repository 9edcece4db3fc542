import type { Scene } from '../scene.ts';
import { SHARED } from './script.ts';
import { answer, people } from './talk.ts';

const CLOCKS = {
  ...SHARED,
  platforms: [{ id: 'keyed', hasKeys: true, finds: false }],
  answer,
  people,
} as const satisfies Partial<Scene>;

/** The clocks of the processes disagree completely, and the leases must hold regardless. */
export const sharedClocks: Scene = {
  ...CLOCKS,
  name: 'shared-clocks',
  faults: ['kill', 'restart', 'pause', 'clock', 'wake-ups'],
};

/**
 * The clock of the database server is set back while workers are killed, and no work waits until
 * the old time is reached again.
 */
export const databaseClock: Scene = {
  ...CLOCKS,
  name: 'database-clock',
  faults: ['kill', 'restart', 'database-clock', 'wake-ups'],
};
