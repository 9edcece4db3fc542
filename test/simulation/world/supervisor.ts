import type { SimulatedProcess, VirtualTime } from '../engine/virtual-time.ts';
import type { Scene } from '../scene.ts';
import type { Deployment } from './deployment.ts';

/** How long after a start that has failed the next one is, in ms; twice as long each time. */
const AGAIN_MS = 1_000;

/** Kills the processes of a deployment, and starts them again, as a supervisor of services does. */
export class Supervisor {
  readonly #time: VirtualTime;
  readonly #deployment: Deployment;
  readonly #processes: Scene['processes'];
  readonly #killSoon = new Map<SimulatedProcess, () => void>();
  #asleepUntil = 0;

  constructor(time: VirtualTime, deployment: Deployment, processes: Scene['processes']) {
    this.#time = time;
    this.#deployment = deployment;
    this.#processes = processes;
  }

  /** Kills a process after so many more of its events, and starts it again. */
  killAfter(name: string, steps: number, downMs: number): void {
    const process = this.#deployment.running.get(name)?.process;
    if (process === undefined || !process.alive || this.#killSoon.has(process)) return;
    let left = steps;
    this.#killSoon.set(process, () => {
      if (left > 0) {
        left -= 1;
        return;
      }
      this.#killSoon.delete(process);
      this.#deployment.kill(name);
      this.startLater(name, downMs);
    });
  }

  /** Must be called after each event of a process. */
  afterEvent(process: SimulatedProcess): void {
    this.#killSoon.get(process)?.();
  }

  killNoMore(): void {
    this.#killSoon.clear();
  }

  /** The machine sleeps: nothing of it runs, and nothing starts, until then. */
  sleepUntil(until: number): void {
    this.#asleepUntil = until;
    for (const { process } of this.#deployment.running.values()) process.pausedUntil = until;
  }

  /** A start that fails, with settings that are broken for example, is tried again later and later. */
  startLater(name: string, afterMs: number, againMs = AGAIN_MS): void {
    const role = this.#processes[name];
    if (role === undefined) return;
    const later = Math.max(afterMs, this.#asleepUntil - this.#time.now);
    this.#time.as(undefined, () => {
      this.#time.plan(later, () => {
        if (this.#deployment.running.get(name)?.process.alive === true) return;
        this.#deployment.begin(name, role, () => this.startLater(name, againMs, againMs * 2));
      });
    });
  }

  /** Starts at once what does not run. */
  startMissing(): void {
    for (const [name, role] of Object.entries(this.#processes)) {
      const running = this.#deployment.running.get(name);
      if (running?.process.alive !== false || running.isStarting) continue;
      this.#deployment.begin(name, role);
    }
  }
}
