import type { SimulatedProcess, VirtualTime } from '../engine/virtual-time.ts';
import type { SimulationScene } from '../scene.ts';
import type { Deployment } from './deployment.ts';

/** The delay before the restart that follows a failed start, in ms; it doubles each time. */
const RESTART_DELAY_MS = 1_000;
/** The longest delay before a restart, in ms. */
const MAX_RESTART_DELAY_MS = 60_000;

/**
 * Kills and pauses the processes of a deployment and restarts them, as a service supervisor does.
 */
export class ProcessSupervisor {
  readonly #time: VirtualTime;
  readonly #deployment: Deployment;
  readonly #processes: SimulationScene['processes'];
  /** Called after each event of a process that is about to be killed or paused. */
  readonly #soon = new Map<SimulatedProcess, () => void>();
  /** The delay before the next restart if a start fails, by the name of the process. */
  readonly #againMs = new Map<string, number>();
  #asleepUntil = 0;

  constructor(time: VirtualTime, deployment: Deployment, processes: SimulationScene['processes']) {
    this.#time = time;
    this.#deployment = deployment;
    this.#processes = processes;
    deployment.onFailedStart = (name) => this.#startAgain(name);
  }

  /** Kills a process after this many of its events, and restarts it. */
  killAfter(name: string, steps: number, downMs: number): void {
    const process = this.#freeProcess(name);
    if (process === undefined) return;
    let left = steps;
    this.#soon.set(process, () => {
      if (left > 0) {
        left -= 1;
        return;
      }
      this.#soon.delete(process);
      this.#deployment.kill(name);
      this.startLater(name, downMs);
    });
  }

  /** Pauses a process; `midway` means in the middle of something, such as a commit. */
  pause(name: string, when: 'at-once' | 'midway', forMs: number): void {
    const process = this.#freeProcess(name);
    if (process === undefined) return;
    const stand = (): void => {
      process.pausedUntil = Math.max(process.pausedUntil, this.#time.now + forMs);
    };
    if (when === 'at-once') {
      stand();
      return;
    }
    this.#soon.set(process, () => {
      if (!this.#time.isMidway(process)) return;
      this.#soon.delete(process);
      stand();
    });
  }

  /** Must be called after each event of a process. */
  afterEvent(process: SimulatedProcess): void {
    this.#soon.get(process)?.();
  }

  /** Cancels everything that is still planned. */
  endFaults(): void {
    this.#soon.clear();
  }

  /** The machine sleeps until then: nothing on it runs or starts. */
  sleepUntil(until: number): void {
    this.#asleepUntil = until;
    for (const { process } of this.#deployment.running.values()) process.pausedUntil = until;
  }

  /** Restarts a process unless it is running by then. */
  startLater(name: string, afterMs: number): void {
    this.#againMs.delete(name);
    this.#startAt(name, afterMs);
  }

  /** Immediately starts every process that is not running. */
  startMissing(): void {
    for (const [name, role] of Object.entries(this.#processes)) {
      const running = this.#deployment.running.get(name);
      if (running?.process.alive !== false || running.isStarting) continue;
      this.#deployment.begin(name, role);
    }
  }

  /** Retries a start that fails, for example because of broken settings, with growing delays. */
  #startAgain(name: string): void {
    const afterMs = this.#againMs.get(name) ?? RESTART_DELAY_MS;
    this.#againMs.set(name, Math.min(afterMs * 2, MAX_RESTART_DELAY_MS));
    this.#startAt(name, afterMs);
  }

  #startAt(name: string, afterMs: number): void {
    const role = this.#processes[name];
    if (role === undefined) return;
    const later = Math.max(afterMs, this.#asleepUntil - this.#time.now);
    this.#time.as(undefined, () => {
      this.#time.plan(later, () => {
        if (!this.#deployment.alive.includes(name)) this.#deployment.begin(name, role);
      });
    });
  }

  /** A running process for which nothing is planned. */
  #freeProcess(name: string): SimulatedProcess | undefined {
    const process = this.#deployment.running.get(name)?.process;
    return process?.alive === true && !this.#soon.has(process) ? process : undefined;
  }
}
