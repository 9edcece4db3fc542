import { setTimeout as sleep } from 'node:timers/promises';
import type { Life, Order, Report } from './victim-order.ts';
import { startVictim, type Victim } from './victim-process.ts';

/** A process that ends by itself (its database is away, say) is started again after this long, in ms. */
const RESTART_DELAY_MS = 300;

/** A process of Parley that somebody starts again whenever it dies, as a supervisor does. */
export class KeptAlive {
  readonly name: string;
  readonly #life: Omit<Life, 'armed'>;
  readonly #hear: (report: Report) => void;
  #victim: Victim | undefined;
  #next: Life['armed'];
  /** Of the life there is. */
  #channels = new Set<string>();
  #isLetGo = false;
  #keeping: Promise<void> | undefined;
  /** Lives that ended without a kill after they had started, with their last words. */
  readonly crashes: string[] = [];
  /** Lives that could not start. */
  readonly failedStarts: string[] = [];
  kills = 0;

  constructor(name: string, life: Omit<Life, 'armed'>, hear: (report: Report) => void) {
    this.name = name;
    this.#life = life;
    this.#hear = hear;
  }

  get role(): Life['role'] {
    return this.#life.role;
  }

  start(): void {
    this.#keeping ??= this.#keep();
  }

  isReady(): boolean {
    return this.#victim?.isAlive() === true && this.#victim.isReady();
  }

  /** Whether the life there is has connected to a channel. */
  isConnected(channel: string): boolean {
    return this.#victim?.isAlive() === true && this.#channels.has(channel);
  }

  /** Its next life dies at the first passing of a point. */
  armNext(order: Life['armed']): void {
    this.#next = order;
  }

  /** Tells the life there is; a new one knows nothing of it. */
  async tell(command: Order | null): Promise<void> {
    await this.#victim?.tell(command);
  }

  kill(): void {
    this.#victim?.kill();
  }

  /** Ends the last life in order; says what was wrong with that, if anything. */
  async end(): Promise<string | null> {
    this.#isLetGo = true;
    const death = await this.#victim?.end();
    await this.#keeping;
    return death?.kind === 'by-itself' ? death.lastOutput : null;
  }

  /** Leaves no process behind. */
  abandon(): void {
    this.#isLetGo = true;
    this.#victim?.kill();
  }

  async #keep(): Promise<void> {
    while (!this.#isLetGo) {
      const armed = this.#next;
      this.#next = undefined;
      const life = armed === undefined ? this.#life : { ...this.#life, armed };
      const channels = new Set<string>();
      this.#channels = channels;
      this.#victim = startVictim(life, (report) => {
        if (report.kind === 'connected') channels.add(report.channel);
        this.#hear(report);
      });
      const death = await this.#victim.dead;
      if (death.kind === 'killed') this.kills += 1;
      if (death.kind !== 'by-itself') continue;
      (death.wasReady ? this.crashes : this.failedStarts).push(death.lastOutput);
      await sleep(RESTART_DELAY_MS);
    }
  }
}
