import { AsyncLocalStorage } from 'node:async_hooks';
import type { RandomChance } from './chance.ts';

/** A simulated process. The events of a process run only while it is alive and not paused. */
export interface SimulatedProcess {
  readonly name: string;
  alive: boolean;
  /** How far its clock is ahead of the simulation's, in ms. */
  clockAhead: number;
  /**
   * The process is paused until this time, like a stopped or swapped-out process. In simulated ms.
   */
  pausedUntil: number;
  /**
   * The process waits for its disk until this time, in the middle of its work. In simulated ms.
   */
  busyUntil: number;
}

/** An event that is due at a certain time. */
interface TimedEvent {
  readonly process: SimulatedProcess | undefined;
  at: number;
  order: number;
  readonly run: () => void;
  /** The period of an interval, in ms; absent for a single event. */
  readonly every?: number;
  /**
   * Whether the event is due immediately because the process is in the middle of an operation such
   * as a commit.
   */
  readonly isImmediate: boolean;
}

/** When each simulation starts, in ms since 1970. */
export const BEGINNING = Date.UTC(2026, 0, 1);
/**
 * How far each immediate advances the clock, so that a loop of immediates cannot stop time. In ms.
 */
const STEP_MS = 0.01;
/** Node's own `setImmediate`: by the next call all ready promise callbacks have run. */
const nextTurn = globalThis.setImmediate;
/**
 * An import takes one turn, since module hooks load synchronously; a startup makes several in a
 * row, with no event between them.
 */
const TURNS_BEFORE_A_JUMP = 20;

/**
 * Virtual time that advances only when no event is due: the events of all simulated processes are
 * in one queue. Among events due at the same time, the seed chooses the process; within a process
 * the order is that of Node's timers.
 */
export class VirtualTime {
  readonly #current = new AsyncLocalStorage<SimulatedProcess | undefined>();
  readonly #events = new Set<TimedEvent>();
  #chance: RandomChance | null = null;
  #now = 0;
  #order = 0;
  #fired = 0;

  /** Called after each event, once all the work that the event made ready has run. */
  afterEach: (process: SimulatedProcess | undefined) => void = () => {};

  /** Receives errors thrown by events; by default they end the simulation. */
  onError: (process: SimulatedProcess | undefined, error: unknown) => void = (_, error) => {
    throw error;
  };

  /** Starts again with an empty queue. */
  begin(chance: RandomChance): void {
    this.#events.clear();
    this.#chance = chance;
    this.#now = 0;
    this.#order = 0;
    this.#fired = 0;
  }

  /** Milliseconds since the start of the simulation. */
  get now(): number {
    return this.#now;
  }

  /**
   * Milliseconds since the start, including the time that the running process has spent in blocking
   * waits.
   */
  get ownNow(): number {
    return Math.max(this.#now, this.process?.busyUntil ?? 0);
  }

  /** The number of events that have run. */
  get fired(): number {
    return this.#fired;
  }

  /** The process whose code is running; undefined for the world around the processes. */
  get process(): SimulatedProcess | undefined {
    return this.#current.getStore();
  }

  /** The time that the clock of the calling process reads, in ms since 1970. */
  wallClock(): number {
    return Math.floor(BEGINNING + this.ownNow + (this.process?.clockAhead ?? 0));
  }

  /** Runs code as a process, or as the world when undefined. */
  as<T>(process: SimulatedProcess | undefined, work: () => T): T {
    return this.#current.run(process, work);
  }

  /**
   * Pauses the running process for this time before its next line, as when it waits for its disk.
   */
  standStill(forMs: number): void {
    const { process } = this;
    if (process !== undefined) process.busyUntil = this.ownNow + forMs;
  }

  /** Schedules an event of the calling process; the returned function cancels it. */
  plan(afterMs: number, run: () => void, every?: number): () => void {
    const event: TimedEvent = {
      process: this.process,
      at: this.ownNow + (afterMs > 0 ? afterMs : STEP_MS),
      order: this.#order++,
      run,
      isImmediate: afterMs <= 0,
      ...(every !== undefined && { every }),
    };
    this.#events.add(event);
    return () => void this.#events.delete(event);
  }

  /**
   * Whether a process is in the middle of an operation that is due immediately: a commit or a file
   * operation.
   */
  isMidway(process: SimulatedProcess): boolean {
    return [...this.#events].some((event) => event.process === process && event.isImmediate);
  }

  /** Runs events until `until`, in ms since the start, or until `isOver` returns true. */
  async runUntil(until: number, isOver: () => boolean = () => false): Promise<void> {
    await this.#settle();
    while (!isOver()) {
      const event = await this.#awaitEvent(until);
      if (event === undefined) {
        if (!isOver()) this.#now = Math.max(this.#now, until);
        return;
      }
      this.#events.delete(event);
      if (event.every !== undefined) {
        event.at = this.#now + event.every;
        event.order = this.#order++;
        this.#events.add(event);
      }
      this.#fired += 1;
      try {
        this.as(event.process, event.run);
      } catch (error) {
        this.onError(event.process, error);
      }
      await this.#settle();
      this.afterEach(event.process);
    }
  }

  /** Runs everything that is ready before time advances. */
  async #awaitEvent(until: number): Promise<TimedEvent | undefined> {
    for (let turn = 0; turn < TURNS_BEFORE_A_JUMP; turn += 1) {
      const event = this.#nextEvent(until);
      if (event !== undefined) return event;
      await this.#settle();
    }
    return undefined;
  }

  async #settle(): Promise<void> {
    await waitForPromises();
    await waitForPromises();
  }

  #nextEvent(until: number): TimedEvent | undefined {
    let soonest = Number.POSITIVE_INFINITY;
    let due: TimedEvent[] = [];
    for (const event of this.#events) {
      const { process } = event;
      if (process?.alive === false) {
        this.#events.delete(event);
        continue;
      }
      const at = Math.max(event.at, process?.pausedUntil ?? 0, process?.busyUntil ?? 0);
      if (at > soonest) continue;
      if (at < soonest) due = [];
      soonest = at;
      due.push(event);
    }
    if (due.length === 0 || soonest > until) return undefined;
    this.#now = Math.max(this.#now, soonest);
    return this.#chosen(due);
  }

  #chosen(due: readonly TimedEvent[]): TimedEvent | undefined {
    if (due.length === 1) return due[0];
    const processes = [...new Set(due.map(({ process }) => process))];
    const chosen = this.#chance?.one(processes);
    return due
      .filter(({ process }) => process === chosen)
      .reduce((first, other) => (isBefore(other, first) ? other : first));
  }
}

function isBefore(one: TimedEvent, other: TimedEvent): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** Resolves when all ready promise callbacks have run. */
function waitForPromises(): Promise<void> {
  return new Promise((resolve) => {
    nextTurn(resolve);
  });
}
