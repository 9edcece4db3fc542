import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SOME_ZONES } from '../testing/some-zones.ts';
import {
  computeWindowOnDay,
  createZoneClock,
  findWindowAt,
  type ZoneClock,
} from '../zone-clock.ts';
import { computeNextRun, listDueTasks } from './run.ts';
import { getCadenceMinutes, type StandingTask } from './task.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const cadence = fc.oneof(
  fc.record({ kind: fc.constant('minutes' as const), minutes: fc.integer({ min: 5, max: 600 }) }),
  fc.record({ kind: fc.constant('days' as const), days: fc.integer({ min: 1, max: 3 }) }),
);
/** Each range of hours lasts at least an hour, because there is a heartbeat every half hour. */
const window = fc
  .tuple(fc.integer({ min: 0, max: 1439 }), fc.integer({ min: 60, max: 1440 }))
  .map(([from, length]) => {
    const to = (from + length) % 1440;
    return to === from ? { from: 0, to: 1440 } : { from, to: to === 0 ? 1440 : to };
  });
const tasks = fc.array(fc.record({ cadence, window }), { minLength: 1, maxLength: 5 }).map((all) =>
  all.map(
    (each, index): StandingTask => ({
      name: `t${index}`,
      line: index + 1,
      instruction: 'x',
      ...each,
    }),
  ),
);
const zone = fc.constantFrom(...SOME_ZONES).map((name) => ({ name, clock: createZoneClock(name) }));
/** The moments are often close to a clock change. */
const start = fc.oneof(
  fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) }),
  fc
    .tuple(
      fc.constantFrom('2026-03-07', '2026-03-28', '2026-10-03', '2026-10-24', '2026-04-23'),
      fc.nat(2 * 24 * 60),
    )
    .map(([day, minutes]) => Date.parse(day) + minutes * MINUTE),
);

interface Run {
  readonly task: StandingTask;
  readonly at: number;
}

/** Simulates heartbeats at these intervals (min), each of which runs the due task. */
function live(
  all: readonly StandingTask[],
  from: number,
  clock: ZoneClock,
  steps: readonly number[],
) {
  const runs: Run[] = [];
  const lastRuns = new Map<string, number>();
  let now = from;
  for (const minutes of steps) {
    const [first] = listDueTasks(all, lastRuns, { now, clock }).due;
    if (first !== undefined) {
      runs.push({ task: first.task, at: now });
      lastRuns.set(first.task.name, now);
    }
    now += minutes * MINUTE;
  }
  return { runs, end: now };
}

describe('[H02] heartbeats over days', () => {
  it('run each task within its hours, and never more often than its cadence allows', () => {
    const sleep = fc.oneof(
      { weight: 8, arbitrary: fc.constant(30) },
      fc.integer({ min: 1, max: 4000 }),
    );
    const steps = fc.array(sleep, { minLength: 20, maxLength: 150 });
    fc.assert(
      fc.property(tasks, start, zone, steps, (all, from, { clock }, distances) => {
        const { runs } = live(all, from, clock, distances);
        for (const task of all) {
          const own = runs.filter((run) => run.task === task).map(({ at }) => at);
          const days = own.map((at) => findWindowAt(clock, task.window, at)?.day ?? Number.NaN);
          expect(days).not.toContain(Number.NaN);
          for (const [index, at] of own.entries()) {
            if (index === 0) continue;
            if (task.cadence.kind === 'days') {
              const between = (days[index] ?? 0) - (days[index - 1] ?? 0);
              expect(between).toBeGreaterThanOrEqual(task.cadence.days);
            } else {
              const between = at - (own[index - 1] ?? 0);
              expect(between).toBeGreaterThanOrEqual(getCadenceMinutes(task.cadence) * MINUTE);
            }
          }
        }
      }),
      toRunOptions(40),
    );
  });

  it('never skip a day of a daily task while heartbeats take place', () => {
    fc.assert(
      fc.property(window, start, zone, (hours, from, { clock }) => {
        const task: StandingTask = {
          name: 'a',
          line: 1,
          instruction: 'x',
          cadence: { kind: 'days', days: 1 },
          window: hours,
        };
        const { runs, end } = live(
          [task],
          from,
          clock,
          Array.from({ length: 160 }, () => 30),
        );
        const ran = new Set(runs.map(({ at }) => findWindowAt(clock, hours, at)?.day));
        expect(ran.size).toBe(runs.length);
        const first = Math.floor(clock.wallAt(from) / DAY);
        for (let day = first; day < first + 4; day += 1) {
          const { start: opens, end: closes } = computeWindowOnDay(clock, hours, day);
          if (opens >= from && closes <= end && closes - opens >= HOUR) expect(ran).toContain(day);
        }
      }),
      toRunOptions(40),
    );
  });

  it('do not have a due task before the moment they announce, but have one at that moment', () => {
    const minutesAgo = fc.array(fc.option(fc.integer({ min: 0, max: 5000 })), { maxLength: 5 });
    fc.assert(
      fc.property(
        tasks,
        start,
        zone,
        minutesAgo,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (all, now, { clock }, ago, part) => {
          const lastRuns = new Map(
            all.flatMap(({ name }, index) => {
              const minutes = ago[index];
              return minutes === undefined || minutes === null
                ? []
                : [[name, now - minutes * MINUTE]];
            }),
          );
          const { due, nextAt } = listDueTasks(all, lastRuns, { now, clock });
          if (due.length > 0) return;
          const next = nextAt ?? now;
          expect(next).toBeGreaterThan(now);
          const before = Math.min(now + Math.floor((next - now) * part), next - 1);
          expect(listDueTasks(all, lastRuns, { now: before, clock }).due).toEqual([]);
          expect(listDueTasks(all, lastRuns, { now: next, clock }).due).not.toEqual([]);
        },
      ),
      toRunOptions(300),
    );
  });

  it('run a task again soon after any jump of the clock', () => {
    const jump = fc.integer({ min: -400 * DAY, max: 400 * DAY });
    fc.assert(
      fc.property(tasks, start, zone, jump, ([task], now, { clock }, by) => {
        if (task === undefined) return;
        const next = computeNextRun(task, now + by, { clock, now });
        const at = next.kind === 'due' ? now : next.nextAt;
        expect(at).toBeGreaterThanOrEqual(now);
        expect(at).toBeLessThanOrEqual(now + getCadenceMinutes(task.cadence) * MINUTE + 2 * DAY);
      }),
      toRunOptions(300),
    );
  });
});
