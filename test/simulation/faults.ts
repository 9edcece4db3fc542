import type { RandomChance } from './engine/chance.ts';
import { STEP_NAMES, type StepName } from './steps.ts';

/** The behavior of the database: it slows down, refuses, runs out of space, or fails at commits. */
const DATABASE_WEATHER = [
  'database-slow',
  'database-refuses',
  'database-full',
  'database-breaks',
] as const;
export type DatabaseWeather = (typeof DATABASE_WEATHER)[number];

/** Temporary failures in the world around the processes. */
export const WEATHER = [
  'wake-ups',
  'queue-away',
  'sends',
  'updates',
  'model',
  ...DATABASE_WEATHER,
] as const;
export type Weather = (typeof WEATHER)[number];

/** One fault of a simulation. `at` is in ms after the first people start to write. */
export type SimulationFault =
  /**
   * The process is killed between two steps and restarts. `steps` counts its own events after `at`.
   */
  | {
      readonly kind: 'kill';
      readonly at: number;
      readonly process: string;
      readonly steps: number;
      readonly downMs: number;
    }
  /** The process shuts down gracefully, as for an upgrade, and restarts. */
  | {
      readonly kind: 'restart';
      readonly at: number;
      readonly process: string;
      readonly downMs: number;
    }
  /** The process is paused, half of the time in the middle of an operation such as a commit. */
  | {
      readonly kind: 'pause';
      readonly at: number;
      readonly process: string;
      readonly when: 'at-once' | 'midway';
      readonly forMs: number;
    }
  /**
   * The process is paused after a step of this kind and this many further events, until another
   * process has taken over its work, and a little longer.
   */
  | {
      readonly kind: 'overtaken';
      readonly at: number;
      readonly process: string;
      readonly step: StepName;
      readonly events: number;
      readonly afterMs: number;
    }
  /** The clock of the process is set; `process` is `all` for the clock of the machine. */
  | {
      readonly kind: 'clock';
      readonly at: number;
      readonly process: string;
      readonly byMs: number;
    }
  /** The clock of the database server is set back; `byMs` is negative. */
  | { readonly kind: 'database-clock'; readonly at: number; readonly byMs: number }
  /** The machine loses power and all unsynced data. For a server, all connections to it break. */
  | {
      readonly kind: 'power-cut';
      readonly at: number;
      /**
       * The number of commits after `at`; 0 means immediately. Only used for the machine of the
       * database.
       */
      readonly commits: number;
      readonly downMs: number;
      /**
       * How long after its recovery the power fails a second time, in ms; null when it does not.
       */
      readonly againAfterMs: number | null;
    }
  /** The database is copied, and the copy is restored after this time. */
  | {
      readonly kind: 'older-copy';
      readonly at: number;
      readonly afterMs: number;
      readonly downMs: number;
    }
  | {
      readonly kind: 'weather';
      readonly at: number;
      readonly what: Weather;
      readonly forMs: number;
    };

export type FaultKind = Exclude<SimulationFault['kind'], 'weather'> | Weather;
export const FAULT_KINDS: readonly FaultKind[] = [
  'kill',
  'restart',
  'pause',
  'overtaken',
  'clock',
  'database-clock',
  'power-cut',
  'older-copy',
  ...WEATHER,
];

/**
 * The range of the pause between two faults, in ms, for a simulation that lasts `PAUSES_FOR_MS`.
 */
const PAUSE_MS = [500, 5_000] as const;
const PAUSES_FOR_MS = 60_000;
/** Clock changes in ms, as caused by NTP, a restored machine, or a mistyped year. */
const CLOCK_STEPS = [2_000, 30_000, 3_600_000, 86_400_000, 3 * 365 * 86_400_000] as const;

/** All faults of a simulation of `forMs`, in order of time. */
export function planFaults(
  chance: RandomChance,
  {
    kinds,
    processes,
    forMs,
  }: {
    readonly kinds: readonly FaultKind[];
    readonly processes: readonly string[];
    readonly forMs: number;
  },
): readonly SimulationFault[] {
  const faults: SimulationFault[] = [];
  if (kinds.length === 0) return faults;
  // A longer simulation has the same number of faults.
  const pause = () => (chance.between(...PAUSE_MS) * forMs) / PAUSES_FOR_MS;
  let at = pause();
  while (at < forMs) {
    faults.push(drawFault(at, chance, chance.one(kinds), chance.one(processes)));
    at += pause();
  }
  return faults;
}

function drawFault(
  at: number,
  chance: RandomChance,
  kind: FaultKind,
  process: string,
): SimulationFault {
  if (kind === 'kill') {
    const steps = Math.floor(chance.between(0, 40));
    return { kind, at, process, steps, downMs: chance.between(50, 4_000) };
  }
  if (kind === 'restart') return { kind, at, process, downMs: chance.between(50, 2_000) };
  if (kind === 'pause') {
    const when = chance.happens(0.5) ? 'midway' : 'at-once';
    return { kind, at, process, when, forMs: chance.between(500, 20_000) };
  }
  if (kind === 'overtaken') {
    const step = chance.one(STEP_NAMES);
    const events = Math.floor(chance.between(0, 4));
    const afterMs = chance.between(0, chance.happens(0.5) ? 60 : 3_000);
    return { kind, at, process, step, events, afterMs };
  }
  if (kind === 'clock') {
    const byMs = chance.one(CLOCK_STEPS) * (chance.happens(0.5) ? 1 : -1);
    return { kind, at, process: chance.happens(0.5) ? 'all' : process, byMs };
  }
  if (kind === 'database-clock') return { kind, at, byMs: -chance.one(CLOCK_STEPS) };
  if (kind === 'power-cut') {
    const againAfterMs = chance.happens(0.5) ? chance.between(1, 500) : null;
    const commits = Math.floor(chance.between(0, 12));
    return { kind, at, commits, downMs: chance.between(50, 4_000), againAfterMs };
  }
  if (kind === 'older-copy') {
    return { kind, at, afterMs: chance.between(500, 20_000), downMs: chance.between(50, 2_000) };
  }
  return { kind: 'weather', at, what: kind, forMs: chance.between(500, 8_000) };
}

/** Describes a fault for the reader of a trace. */
export function describeFault(fault: SimulationFault): string {
  const at = `${(fault.at / 1_000).toFixed(2)} s`;
  switch (fault.kind) {
    case 'kill':
      return `${at}: ${fault.process} is killed after ${fault.steps} more steps, for ${Math.round(fault.downMs)} ms`;
    case 'restart':
      return `${at}: ${fault.process} shuts down in order, for ${Math.round(fault.downMs)} ms`;
    case 'pause':
      return `${at}: ${fault.process} is paused (${fault.when}) for ${Math.round(fault.forMs)} ms`;
    case 'overtaken':
      return `${at}: ${fault.process} is paused ${fault.events} events after it ${fault.step}, until it is overtaken, and ${Math.round(fault.afterMs)} ms longer`;
    case 'clock':
      return `${at}: the clock of ${fault.process} is set by ${fault.byMs} ms`;
    case 'database-clock':
      return `${at}: the clock of the database server is set by ${fault.byMs} ms`;
    case 'power-cut':
      return `${at}: after ${fault.commits} commits the power fails for ${Math.round(fault.downMs)} ms${describeRestart(fault.againAfterMs)}`;
    case 'older-copy':
      return `${at}: the database is copied, and the copy is restored after ${Math.round(fault.afterMs)} ms`;
    case 'weather':
      return `${at}: ${fault.what} go wrong for ${Math.round(fault.forMs)} ms`;
  }
}

function describeRestart(afterMs: number | null): string {
  return afterMs === null ? '' : `, and again ${Math.round(afterMs)} ms after that`;
}
