import type { TableChange } from '../changes.ts';
import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';

type LaneChange = Extract<TableChange, { readonly kind: 'lane' }>;

/** A lane that one worker took over from another, whose lease had not been released. */
interface LaneTakeover {
  readonly before: LaneChange;
  readonly now: LaneChange;
  /** The process that held the lane before. */
  readonly from: string | undefined;
}

/** Remembers the holder of each lane and reports lanes that change hands. */
function watchLanes() {
  const lanes = new Map<string, LaneChange>();
  const takers = new Map<string, string>();
  return (changes: readonly TableChange[], process: string): readonly LaneTakeover[] => {
    if (changes.some(({ kind }) => kind === 'rewound')) lanes.clear();
    return changes.flatMap((now) => {
      if (now.kind !== 'lane') return [];
      const before = lanes.get(now.conversation);
      const from = takers.get(now.conversation);
      lanes.set(now.conversation, now);
      if (now.holder === null || now.holder === before?.holder) return [];
      takers.set(now.conversation, process);
      return before === undefined ? [] : [{ before, now, from }];
    });
  };
}

/**
 * A process that takes a lane raises its epoch, so that the former holder can be told apart from
 * the new one (D02).
 */
export const takingRaisesEpoch: MakeInvariant = () => {
  const takings = watchLanes();
  return {
    id: 'D02',
    afterStep: ({ changes, process }) =>
      takings(changes, process)
        .filter(({ before, now }) => now.epoch <= before.epoch)
        .map(({ now }) => `${process} took ${now.conversation} without raising epoch ${now.epoch}`),
  };
};

/**
 * A lane is not taken while another worker's lease on it is valid, so two workers never handle one
 * conversation (D02).
 */
export const leasesAreRespected: MakeInvariant = () => {
  const takings = watchLanes();
  return {
    id: 'D02',
    afterStep: ({ changes, process, at }, simulation) => {
      const taken = takings(changes, process);
      // A process that owns the data folder exclusively knows that all other holders are dead.
      if (!simulation.isShared) return [];
      return taken
        .filter(
          ({ before }) => before.holder !== null && before.until > simulation.databaseTime(at),
        )
        .map(
          ({ now }) => `${process} took ${now.conversation} while another worker's lease was valid`,
        );
    },
  };
};

/**
 * The time after a pause during which a worker may lose its lanes. In ms: a lease and the sweeps
 * that follow.
 */
const RECOVERY_MS = 20_000;

/**
 * A worker that is alive, not paused and not cut off keeps its lane until its turn is over (D02).
 */
export const theLivingKeepTheirLanes: MakeInvariant = () => {
  const takings = watchLanes();
  return {
    id: 'D02',
    afterStep: ({ changes, process, at }, simulation) => {
      const taken = takings(changes, process);
      if (simulation.scene.faults.some((kind) => kind.startsWith('database'))) return [];
      return taken
        .filter(({ before, from }) => before.holder !== null && isHealthy(from, at, simulation))
        .map(({ now, from }) => `${process} took ${now.conversation} from ${from}, which is alive`);
    },
  };
};

function isHealthy(name: string | undefined, at: number, { deployment }: Simulation): boolean {
  const running = [...deployment.running.values()].find(({ process }) => process.name === name);
  return running?.process.alive === true && running.process.pausedUntil < at - RECOVERY_MS;
}

/** Only the worker that holds a lane releases it (D02). */
export const givenBackByTheirHolders: MakeInvariant = () => {
  const lanes = new Map<string, LaneChange & { readonly taker: string }>();
  return {
    id: 'D02',
    afterStep: ({ changes, process }, { isShared }) => {
      if (changes.some(({ kind }) => kind === 'rewound')) lanes.clear();
      return changes.flatMap((now) => {
        if (now.kind !== 'lane') return [];
        const before = lanes.get(now.conversation);
        const isOther = now.holder !== null && now.holder !== before?.holder;
        const taker = isOther || before === undefined ? process : before.taker;
        lanes.set(now.conversation, { ...now, taker });
        const isGivenBack = now.holder === null && before?.holder != null;
        if (!isShared || !isGivenBack || now.epoch > before.epoch || taker === process) return [];
        return [`${process} released ${now.conversation}, which ${taker} has`];
      });
    },
  };
};
