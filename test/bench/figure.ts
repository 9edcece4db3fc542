import type { SubjectName } from './subject.ts';

/** Sections with a line of the one table for each figure, in the order they run. */
export const PLAIN_SECTIONS = ['start', 'memory', 'latency', 'throughput', 'micro'] as const;
export type PlainSection = (typeof PLAIN_SECTIONS)[number];

/** Sections with tables of their own. */
export const TABLE_SECTIONS = [
  'stages',
  'prompt',
  'memory-search',
  'context',
  'markup',
  'channels',
  'heartbeat',
] as const;
export type TableSection = (typeof TABLE_SECTIONS)[number];

/** Sections that take long or need servers, and run only when they are asked for. */
export const LONG_SECTIONS = ['distributed', 'idle', 'fairness', 'soak'] as const;
export type LongSection = (typeof LONG_SECTIONS)[number];

export type Section = PlainSection | TableSection | LongSection;

/** What a figure should be. */
export interface Aim {
  readonly kind: 'at-most' | 'at-least';
  readonly value: number;
}

/** One line of the table: the values of all rounds, side by side with the baseline's. */
export interface Figure {
  readonly section: PlainSection;
  readonly name: string;
  readonly unit: string;
  readonly values: Readonly<Record<SubjectName, readonly number[]>>;
  /** Aimed at by Parley's median. */
  readonly aim?: Aim;
}

/** How thorough a run is. */
export interface Rounds {
  readonly starts: number;
  readonly memory: number;
  readonly latency: number;
  readonly throughput: number;
  /** Messages of one round of latency; of throughput; before either, to warm up. */
  readonly messages: {
    readonly latency: number;
    readonly throughput: number;
    readonly warmUp: number;
    /** Messages whose stages are measured, and those before. */
    readonly stages: number;
    readonly beforeStages: number;
  };
  /** Longest round of throughput. */
  readonly throughputMs: number;
  /** Quiet time before memory is read. */
  readonly idleMs: number;
  /** Repetitions of each micro-benchmark. */
  readonly micro: number;
  /** Simulated days of the heartbeat. */
  readonly days: number;
  /** Processes for each converter of Markdown; conversions in each; documents that are looked at. */
  readonly markup: number;
  readonly conversions: number;
  readonly documents: number;
  /** How long each topology is under load. */
  readonly loadMs: number;
  /** How long nobody writes while that is measured. */
  readonly stillMs: number;
  /** How long the usual latency of quiet people is watched. */
  readonly fairnessMs: number;
  /** How long a day of the soak takes. */
  readonly minutes: number;
}

export const FULL: Rounds = {
  starts: 9,
  memory: 3,
  latency: 4,
  throughput: 4,
  messages: { latency: 400, throughput: 2_000, warmUp: 600, stages: 500, beforeStages: 1_500 },
  throughputMs: 8_000,
  idleMs: 5_000,
  micro: 400,
  days: 30,
  markup: 3,
  conversions: 40,
  documents: 2_000,
  loadMs: 12_000,
  stillMs: 60_000,
  fairnessMs: 20_000,
  minutes: 20,
};

export const QUICK: Rounds = {
  starts: 3,
  memory: 1,
  latency: 2,
  throughput: 2,
  messages: { latency: 100, throughput: 600, warmUp: 200, stages: 150, beforeStages: 400 },
  throughputMs: 3_000,
  idleMs: 2_000,
  micro: 80,
  days: 7,
  markup: 1,
  conversions: 10,
  documents: 400,
  loadMs: 5_000,
  stillMs: 20_000,
  fairnessMs: 8_000,
  minutes: 3,
};

/** Collects the values of a figure as the rounds go by. */
export class Collector {
  readonly #values: Record<SubjectName, number[]> = { parley: [], bare: [] };

  add(subject: SubjectName, value: number): void {
    this.#values[subject].push(value);
  }

  figure(about: Omit<Figure, 'values'>): Figure {
    return { ...about, values: this.#values };
  }
}
