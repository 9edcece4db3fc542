import type { TableChange } from '../changes.ts';
import type { DatabaseTracker } from '../engine/databases.ts';
import type { SimulatedProcess, VirtualTime } from '../engine/virtual-time.ts';
import type { SimulationFault } from '../faults.ts';
import { isStep } from '../steps.ts';
import type { Deployment } from './deployment.ts';

type OvertakenFault = Extract<SimulationFault, { readonly kind: 'overtaken' }>;

/** If no other process takes over the work, the paused process resumes after this time. In ms. */
const MAX_MS = 20_000;

/**
 * Pauses processes right after a step of a certain kind, until another process has taken over their
 * work, because at such moments only a fence keeps two processes from doing the same work. Random
 * pauses rarely hit these moments.
 */
export class OvertakingController {
  readonly #time: VirtualTime;
  readonly #deployment: Deployment;
  readonly #waiting = new Map<
    SimulatedProcess,
    { readonly fault: OvertakenFault; left: number | null }
  >();
  /** The paused processes, and how long each stays paused after it was overtaken, in ms. */
  readonly #standing = new Map<
    string,
    { readonly process: SimulatedProcess; readonly afterMs: number }
  >();
  /** The holder of each lane or account, by the owner name in the tables. */
  readonly #holders = new Map<string, string>();
  /** The process behind each owner name. */
  readonly #processes = new Map<string, string>();
  #hasLooked = false;

  constructor(time: VirtualTime, deployment: Deployment, databases: DatabaseTracker) {
    this.#time = time;
    this.#deployment = deployment;
    databases.watch = (process, text) => this.#noteStatement(process, text);
  }

  begin(fault: OvertakenFault): void {
    const process = this.#deployment.running.get(fault.process)?.process;
    if (process?.alive !== true || process.pausedUntil > this.#time.now) return;
    this.#waiting.set(process, { fault, left: null });
  }

  /** Cancels everything that is still planned. */
  end(): void {
    this.#waiting.clear();
  }

  #noteStatement(process: SimulatedProcess | undefined, text: string): void {
    const waiting = process && this.#waiting.get(process);
    if (waiting?.left !== null || !isStep(waiting.fault.step, text)) return;
    waiting.left = waiting.fault.events;
  }

  /** Must be called after each event of a process. */
  afterEvent(process: SimulatedProcess): void {
    const waiting = this.#waiting.get(process);
    if (waiting === undefined || waiting.left === null) return;
    waiting.left -= 1;
    if (waiting.left >= 0) return;
    this.#waiting.delete(process);
    process.pausedUntil = this.#time.now + MAX_MS;
    this.#standing.set(process.name, { process, afterMs: waiting.fault.afterMs });
  }

  /** Must be called with the changes of each event of a process. */
  note(changes: readonly TableChange[], process: string): void {
    for (const change of changes) {
      if (change.kind !== 'lease' && change.kind !== 'lane') continue;
      const name = change.kind === 'lease' ? change.name : change.conversation;
      const { holder } = change;
      if (holder === null) continue;
      // The first query sees the work of several processes; later each renewal or taking is a
      // separate event.
      if (this.#hasLooked && !this.#processes.has(holder)) this.#processes.set(holder, process);
      const before = this.#holders.get(name);
      this.#holders.set(name, holder);
      if (before !== undefined && before !== holder) this.#letGoOn(this.#processes.get(before));
    }
    this.#hasLooked = true;
  }

  #letGoOn(overtaken: string | undefined): void {
    const standing = this.#standing.get(overtaken ?? '');
    if (overtaken === undefined || standing === undefined) return;
    this.#standing.delete(overtaken);
    standing.process.pausedUntil = this.#time.now + standing.afterMs;
  }
}
