import { setTimeout as sleep } from 'node:timers/promises';
import type { StartedProcess } from './processes.ts';

/** The delay before a bot that exited by itself is restarted, in ms. */
const RESTART_DELAY_MS = 300;

/** A bot that is restarted whenever it exits, the way a supervisor would restart it. */
export class SupervisedBot {
  readonly #start: () => StartedProcess;
  readonly #keeping: Promise<void>;
  #process: StartedProcess;
  #isKilled = false;
  #isLetGo = false;
  kills = 0;
  /** The number of exits without a kill. */
  crashes = 0;

  constructor(start: () => StartedProcess) {
    this.#start = start;
    this.#process = start();
    this.#keeping = this.#keep();
  }

  /** Resolves when the current process is ready. */
  async ready(): Promise<void> {
    await this.#process.readyAt;
  }

  kill(): void {
    this.#isKilled = true;
    this.kills += 1;
    try {
      process.kill(this.#process.pid, 'SIGKILL');
    } catch {
      // The bot has exited by itself and is about to be restarted.
    }
  }

  /** Ends the bot and does not restart it. */
  async stop(): Promise<void> {
    this.#isLetGo = true;
    await this.#process.stop();
    await this.#keeping;
  }

  async #keep(): Promise<void> {
    for (;;) {
      await this.#process.ended;
      if (this.#isLetGo) return;
      if (!this.#isKilled) {
        this.crashes += 1;
        await sleep(RESTART_DELAY_MS);
      }
      this.#isKilled = false;
      this.#process = this.#start();
    }
  }
}
