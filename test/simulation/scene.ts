import type { ChannelDefinition } from '@parley/channels';
import type { ProcessRole } from '@parley/store';
import type { SimulatedProcess } from './engine/virtual-time.ts';
import type { FaultKind } from './faults.ts';
import type { Simulation } from './simulation.ts';
import type { ModelAnswer, ModelRequest } from './world/model.ts';
import type { Serve } from './world/network.ts';
import type { PlatformKind } from './world/platform-kind.ts';

/** What a scene has in its world besides platforms and model. */
export interface Brought {
  readonly channels: readonly ChannelDefinition[];
  /** Their settings, below `channels`. */
  readonly settings: object;
  /** Servers that can be reached by `fetch`. */
  readonly hosts: Readonly<Record<string, Serve>>;
  /** Called when a process has ended, killed or not. */
  onEnd?(process: SimulatedProcess): void;
  /** Whether nothing is under way there. */
  isOver?(): boolean;
}

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
  /** So long everything goes on after the last fault, though nothing is left to do; in ms. */
  readonly calmMs?: number;
  /** What the model says to a request. */
  answer(request: ModelRequest, simulation: Simulation): ModelAnswer;
  /** Loads modules that a run would otherwise load in the middle; called once, before the first run. */
  prepare?(): Promise<void>;
  /** Makes what the scene has besides; called once for each run, before anything starts. */
  bring?(simulation: Simulation): Brought;
  /**
   * What people do; called once, in the world, when all processes have started. Plans its events on `simulation.time`
   * within `simulation.span` ms.
   */
  people(simulation: Simulation): void;
}
