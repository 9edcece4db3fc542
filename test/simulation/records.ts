import type { SimulationFault } from './faults.ts';
import type { ModelRequest } from './world/model.ts';

/**
 * A person's question. `text` is unique in the simulation, so answers that name it can be
 * recognized.
 */
export interface PersonQuestion {
  readonly id: string;
  readonly text: string;
  readonly chat: string;
  readonly platform: string;
  readonly account: string;
  readonly at: number;
  /** The author has deleted the message, possibly too late. */
  isWithdrawn?: true;
}

/** A request to the model. */
export interface RecordedRequest extends ModelRequest {
  readonly at: number;
}

/** The result of one seed. */
export interface SeedResult {
  readonly seed: number;
  readonly scene: string;
  readonly hash: string;
  readonly faults: readonly SimulationFault[];
  /** Empty if every promise was kept. */
  readonly violations: readonly string[];
  readonly questions: number;
  readonly answered: number;
  readonly events: number;
  /** Virtual time, in ms. */
  readonly took: number;
}
