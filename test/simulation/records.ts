import type { Fault } from './faults.ts';
import type { ModelRequest } from './world/model.ts';

/** A question of a person, and how it is told in answers: `text` is unique in the simulation. */
export interface Question {
  readonly id: string;
  readonly text: string;
  readonly chat: string;
  readonly platform: string;
  readonly account: string;
  readonly at: number;
  /** Its author has taken it back, which may have come too late. */
  isWithdrawn?: true;
}

/** A request to the model. */
export interface Asked extends ModelRequest {
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
