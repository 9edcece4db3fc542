import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { WakeUpQueue } from './wake-up-queue.ts';

/**
 * Does what is due and says when more will be (ms since 1970); null: nothing is planned. What is due
 * stands in a table, and whoever takes it there has it: called too often, too late or by two at once
 * it must do no harm.
 */
export type Schedule = (signal: AbortSignal) => Promise<number | null>;

/** What a scheduler works with. */
export interface SchedulerOptions {
  readonly queue: WakeUpQueue;
  /** By name; the same in all processes. */
  readonly schedules: ReadonlyMap<string, Schedule>;
  readonly clock: Clock;
  readonly log: Logger;
  /** So late at most something may be, in ms; so often each schedule is looked at. */
  readonly everyMs?: number;
}

/** A running scheduler. */
export interface Scheduler {
  /** Looks at a schedule at once: something was planned. */
  wake(name: string): Promise<void>;
  /** Looks at nothing any more, and waits up to `graceMs` for what runs. */
  close(graceMs: number): Promise<void>;
}

/** A few seconds late is on time for people; four looks a minute cost nothing. */
const LOOK_EVERY_MS = 15_000;
const SOONEST_MS = 50;

/**
 * Looks after schedules, in one of all processes at a time. The timers are of this process, which no
 * clock that is put forward or back and no sleep of the machine can mislead; jobs that BullMQ delays
 * until a time of day would be lost for as long as the clock was put back.
 */
export async function startScheduler(options: SchedulerOptions): Promise<Scheduler> {
  const { queue, schedules, clock, log, everyMs = LOOK_EVERY_MS } = options;
  const timers = new Map<string, NodeJS.Timeout>();
  let closed = false;
  const look = (name: string, inMs: number): void => {
    clearTimeout(timers.get(name));
    if (closed) return;
    const timer = setTimeout(() => {
      look(name, everyMs);
      void queue.kick(name);
    }, inMs);
    timers.set(name, timer.unref());
  };
  const worker = await queue.work(async (name, signal) => {
    const schedule = schedules.get(name);
    if (schedule === undefined) return null;
    try {
      const nextAt = await schedule(signal);
      const inMs = nextAt === null ? everyMs : nextAt - clock();
      look(name, Math.min(everyMs, Math.max(SOONEST_MS, inMs)));
    } catch (error) {
      // The next look does it; a retry by the queue would only come before it.
      log.warn({ schedule: name, reason: reasonOf(error) }, 'schedule failed; it is tried again');
    }
    return null;
  }, schedules.size);
  for (const name of schedules.keys()) {
    look(name, everyMs);
    await queue.kick(name);
  }
  return {
    wake: (name) => queue.kick(name),
    async close(graceMs) {
      closed = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await worker.close(graceMs);
    },
  };
}
