import type { KillScale } from './kill-plan.ts';

/** Sections that are rows of the table comparing Parley with other bots. */
export const BESIDE_SECTIONS = ['start', 'memory', 'latency', 'throughput'] as const;
export type BesideSection = (typeof BESIDE_SECTIONS)[number];

/** How thorough a run is. */
export interface BenchRounds {
  readonly starts: number;
  readonly memory: number;
  readonly latency: number;
  readonly throughput: number;
  /**
   * The number of messages in a latency round and in a throughput round, and the number of warm-up
   * messages before either.
   */
  readonly messages: {
    readonly latency: number;
    readonly throughput: number;
    readonly warmUp: number;
    /** The number of messages whose stages are measured, and the number of messages before them. */
    readonly stages: number;
    readonly beforeStages: number;
  };
  /** The maximum duration of a throughput round. */
  readonly throughputMs: number;
  /** Idle time before memory is read. */
  readonly idleMs: number;
  /** Repetitions of short operations, which take at most a few ms. */
  readonly repetitions: number;
  /** Simulated days of the heartbeat. */
  readonly days: number;
  /** Processes for each Markdown converter, conversions in each, and documents that are checked. */
  readonly markup: number;
  readonly conversions: number;
  readonly documents: number;
  /** How long each topology is under load. */
  readonly loadMs: number;
  /** How long an idle installation is measured. */
  readonly stillMs: number;
  /** How long the usual latency of quiet people is observed. */
  readonly fairnessMs: number;
  /** How long a day of the soak takes. */
  readonly minutes: number;
  /** The number of kills of the Slack bots, and the number of questions. */
  readonly kills: KillScale;
}

export const FULL: BenchRounds = {
  starts: 9,
  memory: 2,
  latency: 4,
  throughput: 4,
  messages: { latency: 400, throughput: 2_000, warmUp: 600, stages: 500, beforeStages: 1_500 },
  throughputMs: 8_000,
  idleMs: 5_000,
  repetitions: 400,
  days: 30,
  markup: 3,
  conversions: 40,
  documents: 2_000,
  loadMs: 12_000,
  stillMs: 60_000,
  fairnessMs: 20_000,
  minutes: 20,
  kills: {
    ...{ questions: 2_400, kills: 40, chats: 80, askMs: 40 * 60_000 },
    // Slack's own schedule: immediately, after a minute and after five minutes.
    ...{ retryMs: [0, 60_000, 300_000], quietMs: 100_000 },
  },
};

export const QUICK: BenchRounds = {
  starts: 3,
  memory: 1,
  latency: 2,
  throughput: 2,
  messages: { latency: 100, throughput: 600, warmUp: 200, stages: 150, beforeStages: 400 },
  throughputMs: 3_000,
  idleMs: 2_000,
  repetitions: 80,
  days: 7,
  markup: 1,
  conversions: 10,
  documents: 400,
  loadMs: 5_000,
  stillMs: 20_000,
  fairnessMs: 8_000,
  minutes: 3,
  kills: {
    ...{ questions: 240, kills: 4, chats: 80, askMs: 2 * 60_000 },
    ...{ retryMs: [0, 10_000, 30_000], quietMs: 30_000 },
  },
};
