import type { FaultKind } from './faults.ts';

/** A run that once broke a promise. */
export interface KnownSeed {
  readonly scene: string;
  readonly seed: number;
  /** How many of its faults are enough. */
  readonly faults: number;
  /** The kinds of faults that were asked for; absent: all of the scene. */
  readonly kinds?: readonly FaultKind[];
  /** What went wrong, and what was corrected. */
  readonly was: string;
}

/** Every run begins with these: a promise that was broken once is looked at for good. */
export const KNOWN_SEEDS: readonly KnownSeed[] = [
  {
    scene: 'quiet',
    seed: 1,
    faults: 1,
    was: 'a power cut that undid the counter of the database looked like an older copy; it is synced now',
  },
  {
    scene: 'quiet',
    seed: 2,
    faults: 1,
    was: 'a power cut that undid the counter of the database looked like an older copy; it is synced now',
  },
  {
    scene: 'shared',
    seed: 2_078_400_099,
    faults: 16,
    was: 'a lease that was renewed while another worker waited for its row looked as if the clock had been set back',
  },
];
