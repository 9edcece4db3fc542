import type { Fault } from './faults.ts';

/** A question of a person, and how it is told in answers: `text` is unique in the simulation. */
export interface Question {
  readonly id: string;
  readonly text: string;
  readonly chat: string;
  readonly platform: string;
  readonly at: number;
}

/** What became of one seed. */
export interface Result {
  readonly seed: number;
  readonly scene: string;
  readonly hash: string;
  readonly faults: readonly Fault[];
  /** Empty where every promise was kept. */
  readonly violations: readonly string[];
  readonly questions: number;
  readonly answered: number;
  readonly events: number;
  /** Virtual time, in ms. */
  readonly took: number;
}
