import { setTimeout as sleep } from 'node:timers/promises';
import type { VictimLife, VictimOrder, VictimReport } from './victim-order.ts';
import { startVictim, type Victim } from './victim-process.ts';

/**
 * The delay before a process that exited by itself is restarted, for example because its database
 * is unavailable. In ms.
 */
const RESTART_DELAY_MS = 300;

/** A Parley process that is restarted whenever it exits, the way a supervisor would restart it. */
export class SupervisedProcess {
  readonly name: string;
  readonly #life: Omit<VictimLife, 'armed'>;
  readonly #hear: (report: VictimReport) => void;
  #victim: Victim | undefined;
  #next: VictimLife['armed'];
  /** The channels that the current process has connected to. */
  #channels = new Set<string>();
  #isLetGo = false;
  #keeping: Promise<void> | undefined;
  /** The last output of processes that exited after startup without being killed. */
  readonly crashes: string[] = [];
  /** The last output of processes that failed to start. */
  readonly failedStarts: string[] = [];
  kills = 0;

  constructor(name: string, life: Omit<VictimLife, 'armed'>, hear: (report: VictimReport) => void) {
    this.name = name;
    this.#life = life;
    this.#hear = hear;
  }

  get role(): VictimLife['role'] {
    return this.#life.role;
  }

  start(): void {
    this.#keeping ??= this.#keep();
  }

  isReady(): boolean {
    return this.#victim?.isAlive() === true && this.#victim.isReady();
  }

  /** Whether the current process has connected to a channel. */
  isConnected(channel: string): boolean {
    return this.#victim?.isAlive() === true && this.#channels.has(channel);
  }

  /** Makes the next process kill itself when it first passes a point. */
  armNext(order: VictimLife['armed']): void {
    this.#next = order;
  }

  /** Sends an order to the current process; a restarted process does not receive it. */
  async tell(command: VictimOrder | null): Promise<void> {
    await this.#victim?.tell(command);
  }

  kill(): void {
    this.#victim?.kill();
  }

  /**
   * Shuts the current process down gracefully; returns its last output if it exited in another way,
   * otherwise null.
   */
  async end(): Promise<string | null> {
    this.#isLetGo = true;
    const death = await this.#victim?.end();
    await this.#keeping;
    return death?.kind === 'by-itself' ? death.lastOutput : null;
  }

  /** Kills the process and does not restart it. */
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
