import type { SimulatedProcess, VirtualTime } from './virtual-time.ts';

/** An uncaught error of a process, which would make Node exit. */
export interface ProcessCrash {
  readonly process: SimulatedProcess | undefined;
  readonly error: unknown;
}

type ErrorListener = (error: unknown) => void;

/**
 * Routes uncaught errors: each process sees only the listeners it added itself, and a killed
 * process's listeners no longer run. An error that a listener throws again would have ended the
 * process.
 */
export class CrashRouter {
  readonly #time: VirtualTime;
  readonly #listeners = new Map<SimulatedProcess | undefined, Set<ErrorListener>>();
  #crashes: ProcessCrash[] = [];

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** Replaces the listeners of the real process. */
  install(): void {
    const real = { on: process.on.bind(process), off: process.off.bind(process) };
    const isOurs = (name: unknown): boolean => name === 'uncaughtException';
    const on = (name: string, listener: ErrorListener) => {
      if (!isOurs(name)) return real.on(name, listener);
      const own = this.#listeners.get(this.#time.process) ?? new Set();
      this.#listeners.set(this.#time.process, own.add(listener));
      return process;
    };
    const off = (name: string, listener: ErrorListener) => {
      if (!isOurs(name)) return real.off(name, listener);
      for (const own of this.#listeners.values()) own.delete(listener);
      return process;
    };
    Object.assign(process, { on, addListener: on, off, removeListener: off });
    real.on('unhandledRejection', (error) => this.#note(undefined, error));
    this.#time.onError = (owner, error) => this.#hear(owner, error);
  }

  /** Returns the crashes since the last call. */
  take(): readonly ProcessCrash[] {
    const crashes = this.#crashes;
    this.#crashes = [];
    return crashes;
  }

  forget(): void {
    this.#listeners.clear();
    this.#crashes = [];
  }

  #hear(owner: SimulatedProcess | undefined, error: unknown): void {
    const own = [...(this.#listeners.get(owner) ?? [])];
    if (own.length === 0) {
      this.#note(owner, error);
      return;
    }
    try {
      for (const listener of own) this.#time.as(owner, () => listener(error));
    } catch (thrown) {
      this.#note(owner, thrown);
    }
  }

  #note(owner: SimulatedProcess | undefined, error: unknown): void {
    this.#crashes.push({ process: owner, error });
  }
}
