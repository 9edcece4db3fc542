import { AsyncLocalStorage } from 'node:async_hooks';
import type { Chance } from './chance.ts';

/** A simulated process: what it has started runs as long as it lives, and only while it is not paused. */
export interface SimulatedProcess {
  readonly name: string;
  alive: boolean;
  /** How far its clock is ahead of the simulation's, in ms. */
  clockAhead: number;
  /** Until then it stands still, as a stopped or swapped-out process does. In ms of the simulation. */
  pausedUntil: number;
  /** Until then it waits for its disk, in the midst of its work. In ms of the simulation. */
  busyUntil: number;
}

/** Something that happens at its time. */
interface Event {
  readonly process: SimulatedProcess | undefined;
  at: number;
  order: number;
  readonly run: () => void;
  /** Set for an interval, in ms. */
  readonly every?: number;
  /** It does not wait for a time: the process is in the middle of something, such as a commit. */
  readonly isImmediate: boolean;
}

/** The moment at which each simulation begins. */
const BEGINNING = Date.UTC(2026, 0, 1);
/** What an immediate costs, so that a loop of them cannot hold time still. In ms. */
const STEP_MS = 0.01;
/** Node's own: by the next call everything that was ready in promises has run. */
const nextTurn = globalThis.setImmediate;
/** An import takes a turn, since module hooks load at once; a start makes some in a row, with no event between them. */
const TURNS_BEFORE_A_JUMP = 20;

/**
 * Time that goes on only when nothing is left to do: the events of all simulated processes in one queue. Of what is
 * due at the same time a seed chooses the process; within a process the order is that of Node's timers.
 */
export class VirtualTime {
  readonly #current = new AsyncLocalStorage<SimulatedProcess | undefined>();
  readonly #events = new Set<Event>();
  #chance: Chance | null = null;
  #now = 0;
  #order = 0;
  #fired = 0;

  /** Called after each event, when everything that it made ready has run. */
  afterEach: (process: SimulatedProcess | undefined) => void = () => {};

  /** Hears what an event has thrown; by default it ends the simulation. */
  onError: (process: SimulatedProcess | undefined, error: unknown) => void = (_, error) => {
    throw error;
  };

  /** Begins again with an empty queue. */
  begin(chance: Chance): void {
    this.#events.clear();
    this.#chance = chance;
    this.#now = 0;
    this.#order = 0;
    this.#fired = 0;
  }

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#now;
  }

  /** The same for the process whose code runs: what it waited for without giving way has taken its time. */
  get ownNow(): number {
    return Math.max(this.#now, this.process?.busyUntil ?? 0);
  }

  /** How many events have happened. */
  get fired(): number {
    return this.#fired;
  }

  /** The process whose code runs; undefined for the world around them. */
  get process(): SimulatedProcess | undefined {
    return this.#current.getStore();
  }

  /** What the clock of the process that asks shows, in ms since 1970. */
  wallClock(): number {
    return Math.floor(BEGINNING + this.ownNow + (this.process?.clockAhead ?? 0));
  }

  /** Runs code as that of a process; undefined: of the world. */
  as<T>(process: SimulatedProcess | undefined, work: () => T): T {
    return this.#current.run(process, work);
  }

  /** The process whose code runs stands still for so long, before its next line: it waits for its disk. */
  standStill(forMs: number): void {
    const { process } = this;
    if (process !== undefined) process.busyUntil = this.ownNow + forMs;
  }

  /** Plans an event of the process that asks; the returned function cancels it. */
  plan(afterMs: number, run: () => void, every?: number): () => void {
    const event: Event = {
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

  /** Whether a process is in the middle of something that waits for no time: a commit, a file operation. */
  isMidway(process: SimulatedProcess): boolean {
    return [...this.#events].some((event) => event.process === process && event.isImmediate);
  }

  /** Goes on until `until`, in ms since the beginning, or until `isOver`. */
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

  /** What is ready at the present moment comes before time goes on. */
  async #awaitEvent(until: number): Promise<Event | undefined> {
    for (let turn = 0; turn < TURNS_BEFORE_A_JUMP; turn += 1) {
      const event = this.#nextEvent(until);
      if (event !== undefined) return event;
      await this.#settle();
    }
    return undefined;
  }

  async #settle(): Promise<void> {
    await settled();
    await settled();
  }

  #nextEvent(until: number): Event | undefined {
    let soonest = Number.POSITIVE_INFINITY;
    let due: Event[] = [];
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

  #chosen(due: readonly Event[]): Event | undefined {
    if (due.length === 1) return due[0];
    const processes = [...new Set(due.map(({ process }) => process))];
    const chosen = this.#chance?.one(processes);
    return due
      .filter(({ process }) => process === chosen)
      .reduce((first, other) => (isBefore(other, first) ? other : first));
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** Resolves when everything that is ready in promises has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    nextTurn(resolve);
  });
}
