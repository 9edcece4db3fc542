import type { TraceStep } from '../changes.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';

/** A promise that must hold at every step. */
export interface Invariant {
  /** The id of the promise in SPEC.md. */
  readonly id: string;
  /** Returns the violations after a step; empty when there are none. */
  afterStep?(step: TraceStep, simulation: Simulation): readonly string[];
  /**
   * Like `afterStep`, but called after each change of the database, including tables that no step
   * describes.
   */
  afterChange?(simulation: Simulation, process: string | undefined): readonly string[];
  /** Returns the violations in a request to the model made by `simulation.time.process`. */
  onRequest?(request: ModelRequest, simulation: Simulation): readonly string[];
  /**
   * Returns the violations after the faults have ended and all work in progress has had time to
   * finish.
   */
  atEnd?(simulation: Simulation): readonly string[];
}

/** Creates an invariant with its own memory, for one simulation. */
export type MakeInvariant = () => Invariant;
