import type { ProcessRole } from '@parley/store';
import type { Chance } from './engine/chance.ts';
import type { Fault, FaultKind } from './faults.ts';
import type { Simulation } from './simulation.ts';
import type { ModelAnswer, ModelRequest } from './world/model.ts';
import type { PlatformKind } from './world/platform.ts';

/** What is simulated: the processes, the platforms, what people do, and what the model says. */
export interface Scene {
  readonly name: string;
  /** Processes by name; several share a database, one alone has everything in its data folder. */
  readonly processes: Readonly<Record<string, ProcessRole>>;
  readonly platforms: readonly PlatformKind[];
  /** Settings beside those that every scene has. */
  readonly settings?: object;
  /** Which faults make sense here. */
  readonly faults: readonly FaultKind[];
  /** How long people write and faults come, in ms; a minute when absent. */
  readonly spanMs?: number;
  /** Faults at certain moments, in the place of those at any moment. */
  plan?(chance: Chance): readonly Fault[];
  /** Called before anything starts: leaves behind what an earlier Parley has left. */
  prepare?(simulation: Simulation): void;
  /** Each process is killed once while it starts for the first time. */
  readonly interruptsStart?: true;
  /** What the model says to a request. */
  answer(request: ModelRequest): ModelAnswer;
  /**
   * What people do; called once, in the world, when all processes have started. Plans its events on `simulation.time`
   * within `simulation.span` ms.
   */
  people(simulation: Simulation): void;
}
