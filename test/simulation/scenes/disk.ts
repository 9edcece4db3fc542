import type { SimulationScene } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { PlatformKind } from '../world/platform.ts';
import { WITHOUT_SKILLS } from './people.ts';
import { answerRequest } from './talk.ts';

/**
 * Three platforms: one recognizes parts by key, one can be queried, and one can neither recognize
 * nor report a part.
 */
const PLATFORMS: readonly PlatformKind[] = [
  { id: 'keyed', hasKeys: true, finds: false },
  { id: 'finding', hasKeys: false, finds: true },
  { id: 'bare', hasKeys: false, finds: false },
];

/** People in two direct chats on each platform. */
function startPeople(simulation: Simulation): void {
  const { time, span } = simulation;
  const chance = simulation.chance('people');
  let asked = 0;
  const next = (): void => {
    time.plan(chance.between(50, 2_000), () => {
      if (time.now > span) return;
      asked += 1;
      const platform = chance.one(PLATFORMS).id;
      const id = `${platform}-${chance.one(['1', '2'])}`;
      simulation.ask(platform, `q${asked}`, {
        chat: { id, type: 'direct' },
        sender: { id, name: `Person ${id}`, isBot: false },
        addressed: true,
      });
      next();
    });
  };
  next();
}

const DATABASE = ['database-slow', 'database-refuses', 'database-full', 'database-breaks'] as const;

/** One process whose machine loses power or whose disk fails. */
export const disk: SimulationScene = {
  name: 'disk',
  processes: { parley: 'all' },
  platforms: PLATFORMS,
  settings: WITHOUT_SKILLS,
  faults: ['kill', 'restart', 'power-cut', 'sends', ...DATABASE],
  answer: answerRequest,
  people: startPeople,
};

/** One process whose database is replaced by an older copy. */
export const olderCopy: SimulationScene = {
  ...disk,
  name: 'older-copy',
  faults: ['kill', 'restart', 'older-copy', 'sends'],
};

/** Several processes on a database server that fails or restarts. */
export const server: SimulationScene = {
  ...disk,
  name: 'server',
  processes: { gateway: 'gateway', 'worker-1': 'worker', 'worker-2': 'worker' },
  faults: ['kill', 'restart', 'power-cut', 'wake-ups', 'sends', ...DATABASE],
};

/**
 * The interval in ms at which a single process raises the counter of its database
 * (`database-mark.ts`).
 */
const COUNTED_INTERVAL_MS = 600_000;

/**
 * Nobody writes for ten minutes; then the power fails, just after the counter of the database was
 * raised.
 */
export const quiet: SimulationScene = {
  ...disk,
  name: 'quiet',
  settings: {},
  spanMs: COUNTED_INTERVAL_MS + 60_000,
  faults: ['power-cut'],
  plan: (chance) => {
    const at = COUNTED_INTERVAL_MS + chance.between(0, 25_000);
    return [{ kind: 'power-cut', at, commits: 0, downMs: 1_000, againAfterMs: null }];
  },
  people(simulation) {
    const { time, span } = simulation;
    for (const at of [1_000, span - 5_000]) {
      time.plan(at, () => {
        simulation.ask('keyed', at < span / 2 ? 'q1' : 'q2', {
          chat: { id: 'keyed-1', type: 'direct' },
          sender: { id: 'keyed-1', name: 'Ann', isBot: false },
          addressed: true,
        });
      });
    }
  },
};
