import type { FaultKind } from './faults.ts';

/** A run that once broke a promise. */
export interface KnownSeed {
  readonly scene: string;
  readonly seed: number;
  /** The number of its faults that suffice to reproduce the failure. */
  readonly faults: number;
  /** The requested kinds of faults; by default all kinds of the scene. */
  readonly kinds?: readonly FaultKind[];
  /** The cause of the failure and its fix. */
  readonly was: string;
}

/** Every run starts with these seeds, so that a promise that was broken once is always checked. */
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
  {
    scene: 'limits',
    seed: 3_000_386,
    faults: 16,
    was: 'a part whose answer was lost was sent again after a rate-limit response, when the platform had forgotten its key',
  },
  {
    scene: 'discord',
    seed: 1,
    faults: 3,
    was: 'what an earlier session delivers after a start hid what was missed in a new channel; positions are held until all channels are named',
  },
  {
    scene: 'discord',
    seed: 3,
    faults: 6,
    was: 'a later session delivered before an earlier one, and its messages were answered first; they wait until missed ones are fetched',
  },
  {
    scene: 'limits',
    seed: 2,
    faults: 4,
    was: 'a part was sent again when the platform had forgotten the key of an attempt that had arrived; it is called uncertain now',
  },
  {
    scene: 'uncertain',
    seed: 47,
    faults: 10,
    was: 'the promise was wrong: a request that left after its deadline, because the process had been paused, arrived after the notice that it is uncertain',
  },
  {
    scene: 'slow',
    seed: 39,
    faults: 0,
    was: 'the promise was wrong: 27 answers of a chat in which the platform takes 7 s for each need more than 120 s',
  },
  {
    scene: 'server',
    seed: 28,
    faults: 3,
    was: 'a part that the platform had found was called uncertain, since the database failed at that moment; the outcome of a send now waits for it',
  },
  {
    scene: 'uncertain',
    seed: 171,
    faults: 21,
    was: 'the promise was wrong: a notice that was repeated after the death of a process was found after the repetition, not before',
  },
  {
    scene: 'server',
    seed: 116,
    faults: 5,
    was: 'the same where the disk of the database had errors for a moment',
  },
  {
    scene: 'discord',
    seed: 64,
    faults: 13,
    was: 'direct messages of a lost session were forgotten at the next start when the bot had heard nothing before',
  },
];
