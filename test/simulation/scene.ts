import type { ChannelDefinition } from '@parley/channels';
import type { ProcessRole } from '@parley/store';
import type { Chance } from './engine/chance.ts';
import type { SimulatedProcess } from './engine/virtual-time.ts';
import type { Fault, FaultKind } from './faults.ts';
import type { MakeInvariant } from './invariants/invariant.ts';
import type { Simulation } from './simulation.ts';
import type { ModelAnswer, ModelRequest } from './world/model.ts';
import type { Serve } from './world/network.ts';
import type { Shown } from './world/platform.ts';
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
  /** Files of the workspace, which are there before the first start. */
  readonly files?: Readonly<Record<string, string>>;
  /** How long people write and faults come, where it is not the usual minute. In ms. */
  readonly spanMs?: number;
  /** Promises that only this scene can check, besides those that hold in all. */
  readonly invariants?: readonly MakeInvariant[];
  /** Which faults make sense here. */
  readonly faults: readonly FaultKind[];
  /** So long everything goes on after the last fault, though nothing is left to do; in ms. */
  readonly calmMs?: number;
  /** How long the model thinks, where it is not its usual time. In ms. */
  readonly thinkMs?: readonly [number, number];
  /** What the model says to a request, which `simulation.time.process` makes. */
  answer(request: ModelRequest, simulation: Simulation): ModelAnswer;
  /** Loads modules that a run would otherwise load in the middle; called once, before the first run. */
  load?(): Promise<void>;
  /** Makes what the scene has besides; called once for each run, before anything starts. */
  bring?(simulation: Simulation): Brought;
  /** Faults at certain moments, in the place of those at any moment. */
  plan?(chance: Chance): readonly Fault[];
  /** Called before anything starts: leaves behind what an earlier Parley has left. */
  prepare?(simulation: Simulation): void;
  /** Each process is killed once while it starts for the first time. */
  readonly interruptsStart?: true;
  /**
   * What people do; called once, in the world, when all processes have started. Plans its events on `simulation.time`
   * within `simulation.span` ms.
   */
  people(simulation: Simulation): void;
  /** Called in the world when people see a message of the bot for the first time. */
  seen?(shown: Omit<Shown, 'isDeleted'>, platform: string, simulation: Simulation): void;
  /** Whether something that no table of every scene shows is still to come once faults have ended. */
  isUnderWay?(simulation: Simulation): boolean;
}
