import { type Clock, type LiveBus, type Logger, reasonOf } from '@parley/core';

/**
 * Does the work for one key; returns the delay in ms until the next run, or null when no work is
 * left.
 */
export type WakeUpHandler = (key: string, signal: AbortSignal) => Promise<number | null>;

/** Keyed work within one process: one run at a time per key, different keys in parallel. */
export interface KeyedWork {
  /** Runs the key now or, if it is already running, once again afterwards. */
  wake(key: string): void;
  /** Stops starting keys, waits up to `graceMs` for running ones, then aborts them. */
  close(graceMs: number): Promise<void>;
}

export interface KeyedWorkOptions {
  readonly name: string;
  readonly handler: WakeUpHandler;
  readonly concurrency: number;
  readonly log: Logger;
  readonly random: () => number;
}

/**
 * The maximum delay in ms. Node fires a timer of more than 24 days immediately, so a longer delay
 * is split: a handler that is called early returns a new delay.
 */
const MAX_PAUSE_MS = 3_600_000;

/**
 * Starts keyed work. Nothing is stored: if the process crashes, the sweep in the next process finds
 * the work. Delays are relative, so changing the clock does not affect them.
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
      log.warn({ work: name, key, reason: reasonOf(error) }, 'work failed; will retry');
      return computeWakeUpRetryDelay(count, random());
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
      // Runs start in a microtask, outside the caller's stack.
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
/**
 * The maximum delay in ms, short enough that chats recover quickly after the database was
 * unreachable for a minute.
 */
const MAX_MS = 5_000;

/**
 * Computes the delay in ms after the `attempt`th failure in a row (from 1). `random` in [0, 1)
 * spreads retries between half and all of the delay.
 */
export function computeWakeUpRetryDelay(attempt: number, random: number): number {
  const pause = Math.min(MAX_MS, FIRST_MS * 2 ** (attempt - 1));
  return Math.round(pause * (0.5 + random / 2));
}

/**
 * Does all due work and returns when more will be due (ms since the Unix epoch), or null if nothing
 * is scheduled. Each due item is a row, which only one process can claim. Repeated, late or
 * concurrent calls must do no harm.
 */
export type Schedule = (signal: AbortSignal) => Promise<number | null>;

/** The schedules that a scheduler runs, and the services it needs. */
export interface SchedulerOptions {
  /** The schedules by name; the names are the same in all processes. */
  readonly schedules: ReadonlyMap<string, Schedule>;
  /** Delivers `schedule-due`, which announces that a schedule has new entries. */
  readonly bus: LiveBus;
  readonly clock: Clock;
  readonly log: Logger;
  /** How often each schedule is checked, and thus the maximum delay of an entry, in ms. */
  readonly everyMs?: number;
}

export interface Scheduler {
  /** Stops checking schedules and waits up to `graceMs` for running ones. */
  close(graceMs: number): Promise<void>;
}

/**
 * Polling finds entries that were planned while the bus was unreachable; otherwise, timers and the
 * bus start them on time.
 */
const POLL_INTERVAL_MS = 30_000;
const SOONEST_MS = 50;

/** Runs schedules with one timer per schedule; the rows decide which process does the due work. */
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
      log.warn({ schedule: name, reason: reasonOf(error) }, 'schedule failed; will retry');
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

export interface Sweep {
  /** Stops repeating the task and waits for a running round. */
  stop(): Promise<void>;
}

/** Starts a sweep whose name and interval are already set. */
export type StartSweep = (task: () => Promise<void>) => Sweep;

/**
 * Runs `task` immediately and then again `intervalMs` after each round has finished, to find work
 * whose wake-up was lost. A failed round is logged and does not prevent the next one.
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
