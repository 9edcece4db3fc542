import { createChance, type RandomChance } from './chance.ts';
import { CrashRouter } from './crashes.ts';
import { DatabaseTracker } from './databases.ts';
import { type FileDelays, installFiles } from './files.ts';
import { installModules } from './modules.ts';
import { installRandomness } from './randomness.ts';
import { installServers } from './servers.ts';
import { SyncedFiles } from './synced-files.ts';
import { installTimers } from './timers.ts';
import { VirtualTime } from './virtual-time.ts';

/** The machine on which everything is simulated: this thread. */
export interface SimulationMachine {
  readonly time: VirtualTime;
  readonly databases: DatabaseTracker;
  readonly crashes: CrashRouter;
  /** The state of the files on the disk. */
  readonly files: SyncedFiles;
  /** Takes effect with the next file operation. */
  fileDelays: FileDelays;
  /**
   * Starts another simulation, in which the seed determines the random numbers of the processes and
   * which of them runs next.
   */
  begin(seed: number): void;
}

/**
 * Permanently replaces time, randomness, files, databases and servers of this thread. Modules of
 * the product must be loaded afterwards.
 */
export function installMachine(): SimulationMachine {
  const time = new VirtualTime();
  const databases = new DatabaseTracker(time);
  const crashes = new CrashRouter(time);
  const files = new SyncedFiles(() => time.now);
  let chance: RandomChance = createChance(0, 'product');
  installModules();
  installServers();
  installTimers(time);
  installRandomness(() => chance);
  files.install();
  installFiles({ msOf: (path) => machine.fileDelays.msOf(path) });
  databases.install();
  crashes.install();
  const machine: SimulationMachine = {
    time,
    databases,
    crashes,
    files,
    fileDelays: { msOf: () => 0 },
    begin(seed) {
      crashes.forget();
      chance = createChance(seed, 'product');
      time.begin(createChance(seed, 'order'));
      files.begin();
    },
  };
  return machine;
}
