import type { Step } from '../changes.ts';
import type { Simulation } from '../simulation.ts';
import type { ModelRequest } from '../world/model.ts';

/** A promise that must hold at every step. */
export interface Invariant {
  /** The promise of SPEC.md that it checks. */
  readonly id: string;
  /** Says what is wrong after a step; an empty list: nothing. */
  afterStep?(step: Step, simulation: Simulation): readonly string[];
  /** As `afterStep`, but after each change of the database, also of tables that no step tells of. */
  afterChange?(simulation: Simulation, process: string | undefined): readonly string[];
  /** Says what is wrong with a request to the model, which `simulation.time.process` makes. */
  onRequest?(request: ModelRequest, simulation: Simulation): readonly string[];
  /** Says what is wrong when faults have ended and the time for everything that was under way is over. */
  atEnd?(simulation: Simulation): readonly string[];
}

/** Makes an invariant with the memory of its own that one simulation needs. */
export type MakeInvariant = () => Invariant;
