import { type Clock, type LiveBus, type Logger, reasonOf } from '@parley/core';

/** Work on one key. Returns after how many ms to look again, or null when nothing is left. */
export type WakeUpHandler = (key: string, signal: AbortSignal) => Promise<number | null>;

/** Work of this process alone, by key: each key once at a time, different keys in parallel. */
export interface KeyedWork {
  /** Runs the key now, or once more after the run it is in. */
  wake(key: string): void;
  /** Starts no more keys, waits up to `graceMs` for running ones, then aborts them. */
  close(graceMs: number): Promise<void>;
}

/** The work, its concurrency, and the log of failed runs. */
export interface KeyedWorkOptions {
  readonly name: string;
  readonly handler: WakeUpHandler;
  readonly concurrency: number;
  readonly log: Logger;
  readonly random: () => number;
}

/** A timer of Node fires at once beyond 24 days; a key that is checked early says when to come again. */
const MAX_PAUSE_MS = 3_600_000;

/**
 * Nothing of this is stored: what a process that died was woken for is found by the sweep of the next
 * one. Timers count from now, so a clock that is put back or forward holds nothing up.
 */
export function startKeyedWork(options: KeyedWorkOptions): KeyedWork {
  const { name, handler, concurrency, log, random } = options;
  const ending = new AbortController();
  const waiting = new Set<string>();
  const running = new Map<string, Promise<void>>();
  const again = new Set<string>();
  const timers = new Map<string, NodeJS.Timeout>();
  const failures = new Map<string, number>();
  let isClosed = false;

  const work = async (key: string): Promise<number | null> => {
    try {
      const pause = await handler(key, ending.signal);
      failures.delete(key);
      return pause;
    } catch (error) {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      log.warn({ work: name, key, reason: reasonOf(error) }, 'work failed; it will be tried again');
      return retryPause(count, random());
    }
  };
  const run = async (key: string): Promise<void> => {
    const pause = await work(key);
    running.delete(key);
    if (isClosed) return;
    if (again.delete(key)) waiting.add(key);
    else if (pause !== null) timers.set(key, timerFor(key, pause));
    fill();
  };
  const fill = (): void => {
    for (const key of waiting) {
      if (running.size >= concurrency) return;
      waiting.delete(key);
      // Not on the stack of the caller that wakes it.
      running.set(key, Promise.resolve(key).then(run));
    }
  };
  const wake = (key: string): void => {
    if (isClosed) return;
    clearTimeout(timers.get(key));
    timers.delete(key);
    (running.has(key) ? again : waiting).add(key);
    fill();
  };
  const timerFor = (key: string, pauseMs: number): NodeJS.Timeout =>
    setTimeout(() => wake(key), Math.min(pauseMs, MAX_PAUSE_MS)).unref();
  return {
    wake,
    async close(graceMs) {
      isClosed = true;
      for (const timer of timers.values()) clearTimeout(timer);
      const grace = setTimeout(() => ending.abort(), graceMs);
      await Promise.all(running.values());
      clearTimeout(grace);
    },
  };
}

const FIRST_MS = 500;
/** A database that was away for a minute must not leave chats alone for another one. In ms. */
const MAX_MS = 5_000;

/**
 * The pause in ms after work on a key has failed for the `attempt`th time in a row (from 1). `random` in [0, 1)
 * spreads what failed together, between half of the pause and all of it.
 */
export function retryPause(attempt: number, random: number): number {
  const pause = Math.min(MAX_MS, FIRST_MS * 2 ** (attempt - 1));
  return Math.round(pause * (0.5 + random / 2));
}

/**
 * Does what is due and says when more will be (ms since 1970); null: nothing is planned. What is due
 * is a row, and the process that takes the row has it: called too often, too late or by two at once
 * it must do no harm.
 */
export type Schedule = (signal: AbortSignal) => Promise<number | null>;

/** The schedules and services of a scheduler. */
export interface SchedulerOptions {
  /** By name; the same in all processes. */
  readonly schedules: ReadonlyMap<string, Schedule>;
  /** `schedule-due` on it: something was planned. */
  readonly bus: LiveBus;
  readonly clock: Clock;
  readonly log: Logger;
  /** So late at most something may be, in ms; so often each schedule is looked at. */
  readonly everyMs?: number;
}

/** A running scheduler. */
export interface Scheduler {
  /** Looks at nothing any more, and waits up to `graceMs` for what runs. */
  close(graceMs: number): Promise<void>;
}

/** Timers and the bus are in time; this is for what was planned while the bus was away. */
const POLL_INTERVAL_MS = 30_000;
const SOONEST_MS = 50;

/** Looks after schedules: one timer each in every process; the rows decide which process has what is due. */
export function startScheduler(options: SchedulerOptions): Scheduler {
  const { schedules, bus, clock, log, everyMs = POLL_INTERVAL_MS } = options;
  const look = async (name: string, signal: AbortSignal): Promise<number | null> => {
    const schedule = schedules.get(name);
    if (schedule === undefined) return null;
    try {
      const nextAt = await schedule(signal);
      const inMs = nextAt === null ? everyMs : nextAt - clock();
      return Math.min(everyMs, Math.max(SOONEST_MS, inMs));
    } catch (error) {
      log.warn({ schedule: name, reason: reasonOf(error) }, 'schedule failed; it is tried again');
      return everyMs;
    }
  };
  const work = startKeyedWork({
    name: 'schedules',
    handler: look,
    concurrency: schedules.size,
    log,
    random: () => 0,
  });
  const unsubscribe = bus.subscribe((event) => {
    if (event.type === 'schedule-due') work.wake(event.schedule);
  });
  for (const name of schedules.keys()) work.wake(name);
  return {
    async close(graceMs) {
      unsubscribe();
      await work.close(graceMs);
    },
  };
}

/** A repeating task that never overlaps itself. */
export interface Sweep {
  /** Ends the repetition and waits for a running round. */
  stop(): Promise<void>;
}

/** Starts a sweep whose name and pace are settled. */
export type StartSweep = (task: () => Promise<void>) => Sweep;

/**
 * Runs `task` now and then every `intervalMs` after it has finished: finds work whose wake-up was
 * lost. A failed round is logged and the next one comes all the same.
 */
export function startSweep(
  name: string,
  intervalMs: number,
  log: Logger,
  task: () => Promise<void>,
): Sweep {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let round = Promise.resolve();
  const run = (): void => {
    round = task()
      .catch((error: unknown) => log.warn({ sweep: name, reason: reasonOf(error) }, 'sweep failed'))
      .then(() => {
        if (stopped) return;
        timer = setTimeout(run, intervalMs);
        timer.unref();
      });
  };
  run();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
