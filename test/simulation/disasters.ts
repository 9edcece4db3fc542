import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createChance } from './engine/chance.ts';
import type { PowerCutFiles } from './engine/synced-database.ts';
import type { SimulationFault } from './faults.ts';
import type { Simulation } from './simulation.ts';
import { SimulatedDisk } from './world/disk.ts';

/** The time limit of an orderly shutdown (D11) with a margin, in ms. */
const STOP_MS = 12_000;

type PowerCutFault = Extract<SimulationFault, { readonly kind: 'power-cut' }>;
type OlderCopyFault = Extract<SimulationFault, { readonly kind: 'older-copy' }>;

/** Simulates power cuts of the machine with the database, and restored older copies. */
export class Disasters {
  readonly disk: SimulatedDisk;
  readonly #simulation: Simulation;
  /** Parley's data folder. */
  readonly #data: string;
  readonly #isShared: boolean;
  #copies = 0;
  /** The number of copies that are still to be restored. */
  #waiting = 0;
  /** The next power cut, and the number of commits before it. */
  #next: { readonly cut: PowerCutFault; readonly commits: number } | null = null;

  constructor(simulation: Simulation, data: string) {
    const { scene, folder, time, seed } = simulation;
    this.#simulation = simulation;
    this.#data = data;
    this.#isShared = simulation.isShared;
    this.disk = new SimulatedDisk({
      time,
      chance: createChance(seed, 'disk'),
      path: simulation.databaseFile,
      copy: join(folder, 'synced.db'),
      isServer: this.#isShared,
      checkpoints: scene.faults.some((kind) => kind === 'power-cut' || kind === 'older-copy'),
      is: (weather) => simulation.is(weather),
    });
  }

  inject(fault: PowerCutFault | OlderCopyFault): void {
    if (fault.kind === 'older-copy') this.#copyDatabase(fault);
    else if (this.#isShared) this.#breakConnections();
    else if (fault.commits === 0) this.#cutPower(fault);
    else this.#next ??= { cut: fault, commits: this.disk.commits + fault.commits };
  }

  /** Runs between two events and triggers due disasters. */
  afterEvent(): void {
    const next = this.#next;
    if (next === null || this.disk.commits < next.commits) return;
    this.#next = null;
    this.#cutPower(next.cut);
  }

  /** No more disasters happen after this call. */
  end(): void {
    this.#next = null;
  }

  /**
   * Whether no copy is pending and Parley has started on the restored files, because it can only
   * notice a restore at startup.
   */
  isOver(): boolean {
    const { deployment, scene } = this.#simulation;
    if (!scene.faults.includes('older-copy')) return true;
    const isRunning = (name: string): boolean => {
      const running = deployment.running.get(name);
      return running?.process.alive === true && running.parley !== undefined;
    };
    return this.#waiting === 0 && Object.keys(scene.processes).every(isRunning);
  }

  /**
   * PostgreSQL syncs each commit, so a restarted server still has all commits but no other state.
   */
  #breakConnections(): void {
    const { machine, databaseFile } = this.#simulation;
    for (const { process, reconnect } of machine.databases.of(databaseFile)) {
      if (process !== undefined) reconnect();
    }
  }

  /**
   * All processes of the machine end at the same moment, and its files revert to the state on disk.
   */
  #cutPower({ downMs, againAfterMs }: Pick<PowerCutFault, 'downMs' | 'againAfterMs'>): void {
    const { machine, databaseFile, seed, time } = this.#simulation;
    const chance = createChance(seed, `power ${time.now}`);
    const cut = this.disk.synced.cut(chance);
    if (cut === null) return;
    this.#replace(cut, 'power-cut', () => {
      machine.files.cut(this.#data, (path) => path.startsWith(databaseFile), chance);
    });
    this.#startAll(downMs);
    if (againAfterMs === null) return;
    time.as(undefined, () => {
      const again = { downMs, againAfterMs: null };
      time.plan(downMs + againAfterMs, () => this.#cutPower(again));
    });
  }

  /** An operator copies the database files and restores them later, while Parley is stopped. */
  #copyDatabase({ afterMs, downMs }: OlderCopyFault): void {
    const { folder, time, deployment, machine, scene } = this.#simulation;
    this.#copies += 1;
    const copy = join(folder, `copy-${this.#copies}.db`);
    const then = this.disk.synced.copyTo(copy);
    if (then === null || this.#isShared) return;
    const isSwept = () => readCounter(copy, then.log) < this.#counterSeen();
    this.#waiting += 1;
    time.as(undefined, () => {
      time.plan(afterMs, () => {
        const names = Object.keys(scene.processes);
        for (const name of names) stopGracefully(this.#simulation, name);
        time.plan(STOP_MS, () => {
          for (const name of deployment.alive) deployment.kill(name);
          machine.databases.closeAllOf(undefined);
          // If the counter has not been raised since, Parley cannot notice the restore.
          if (isSwept()) this.#replace(then, 'older-copy', () => {});
          this.#startAll(downMs);
          this.#waiting -= 1;
        });
      });
    });
  }

  #replace(files: PowerCutFiles, by: 'power-cut' | 'older-copy', andThen: () => void): void {
    const { deployment, observer, questions, lost } = this.#simulation;
    const known = questions.filter(({ id, chat }) => observer.messageOf(id, chat) !== undefined);
    for (const name of deployment.alive) deployment.kill(name);
    observer.close();
    this.disk.synced.put(files);
    andThen();
    observer.open();
    this.#simulation.look([{ kind: 'rewound', by }]);
    if (by === 'power-cut') return;
    for (const { id, chat, text } of known) {
      if (observer.messageOf(id, chat) === undefined) lost.add(text);
    }
  }

  #startAll(downMs: number): void {
    const { scene } = this.#simulation;
    for (const name of Object.keys(scene.processes))
      this.#simulation.supervisor.startLater(name, downMs);
  }

  /** The database counter that is recorded in the data folder. */
  #counterSeen(): number {
    try {
      const mark = JSON.parse(readFileSync(join(this.#data, 'database.json'), 'utf8'));
      return Number(mark.counter);
    } catch {
      return -1;
    }
  }
}

function stopGracefully({ deployment, time }: Simulation, name: string): void {
  const running = deployment.running.get(name);
  const { parley, process } = running ?? {};
  if (parley === undefined || process?.alive !== true) return;
  const end = (): void => {
    if (process.alive) deployment.kill(name);
  };
  time.as(process, () => void parley.close().then(end, end));
}

/** The counter of `store_state` in a copy of the files. */
function readCounter(file: string, log: Uint8Array): number {
  const other = `${file}.look`;
  copyFileSync(file, other);
  if (log.length > 0) writeFileSync(`${other}-wal`, log);
  const database = new DatabaseSync(other);
  try {
    const row = database.prepare('select counter from store_state').get();
    return Number(row?.counter ?? 0);
  } finally {
    database.close();
  }
}
