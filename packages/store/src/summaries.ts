import type { PinPlace } from './pins.ts';

/** Whose summaries: what an owner was shown is summed up apart from what others were. */
export interface SummaryPlace extends PinPlace {
  /** Kind of the reader. */
  readonly reader: string;
}

/** One summary that is to be written, or was. */
export interface SummaryTask extends SummaryPlace {
  /** `history`: of a session from its beginning. `day`: of one day of it. */
  readonly kind: 'history' | 'day';
  /** What makes it the only one of its kind: where the one before ends, or the date. */
  readonly mark: string;
}

/** A summary that was written; `content` is for its writer to understand. */
export interface StoredSummary {
  readonly content: unknown;
  /** `seq` of the last transcript entry that is in it. */
  readonly reaches: number;
}

/** Who writes a summary, and for how long nobody else does; times in ms. */
export interface SummaryClaim {
  readonly by: string;
  readonly now: number;
  readonly until: number;
  /** Also one that failed a short while ago. */
  readonly impatient: boolean;
}

/**
 * Summaries of what was said. Each is written once and never changed, but where a person wants something
 * forgotten; a longer one is a further row.
 */
export interface SummaryRepository {
  /** The summary of a session that reaches furthest, null when there is none. */
  latest(place: SummaryPlace): Promise<StoredSummary | null>;
  /** The summary of one day, null when there is none. */
  ofDay(place: SummaryPlace, day: string): Promise<StoredSummary | null>;
  /**
   * Takes the writing of a summary; true for one caller, until its claim runs out. False when it is
   * written already.
   */
  claim(task: SummaryTask, claim: SummaryClaim): Promise<boolean>;
  /** Stores what was claimed; false when the claim was lost, and nothing is stored. */
  finish(task: SummaryTask, by: string, summary: StoredSummary): Promise<boolean>;
  /** Gives a claim back; nobody but the impatient tries again before `until` (ms). */
  postpone(task: SummaryTask, by: string, until: number): Promise<void>;
  /** Gives all claims back, for a process that knows that nobody else is at work. */
  releaseAll(): Promise<void>;
}
