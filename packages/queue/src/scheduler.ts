import { type Clock, type LiveBus, type Logger, reasonOf } from '@parley/core';
import { startKeyedWork } from './keyed-work.ts';

/**
 * Does what is due and says when more will be (ms since 1970); null: nothing is planned. What is due
 * is a row, and the process that takes the row has it: called too often, too late or by two at once
 * it must do no harm.
 */
export type Schedule = (signal: AbortSignal) => Promise<number | null>;

/** What a scheduler works with. */
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
const LOOK_EVERY_MS = 30_000;
const SOONEST_MS = 50;

/** Looks after schedules: one timer each in every process; the rows decide which process has what is due. */
export function startScheduler(options: SchedulerOptions): Scheduler {
  const { schedules, bus, clock, log, everyMs = LOOK_EVERY_MS } = options;
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
