import type { ChannelDefinition } from '@parley/channels';
import type { ProcessRole } from '@parley/store';
import type { RandomChance } from './engine/chance.ts';
import type { SimulatedProcess } from './engine/virtual-time.ts';
import type { FaultKind, SimulationFault } from './faults.ts';
import type { MakeInvariant } from './invariants/invariant.ts';
import type { Simulation } from './simulation.ts';
import type { ModelAnswer, ModelRequest } from './world/model.ts';
import type { ServeRequest } from './world/network.ts';
import type { DisplayedMessage } from './world/platform.ts';
import type { PlatformKind } from './world/platform-kind.ts';

/** What a scene adds to its world besides platforms and a model. */
export interface SceneAdditions {
  readonly channels: readonly ChannelDefinition[];
  /** Settings of these additions, under `channels`. */
  readonly settings: object;
  /** Servers reachable by `fetch`. */
  readonly hosts: Readonly<Record<string, ServeRequest>>;
  /** Called when a process has ended, whether killed or shut down. */
  onEnd?(process: SimulatedProcess): void;
  /** Whether no work is in progress there. */
  isOver?(): boolean;
}

/** The simulated setup: the processes, the platforms, people's actions, and the model's answers. */
export interface SimulationScene {
  readonly name: string;
  /**
   * Processes by name. Several processes share a database; a single one keeps its data in its data
   * folder.
   */
  readonly processes: Readonly<Record<string, ProcessRole>>;
  readonly platforms: readonly PlatformKind[];
  /** Settings added to the settings of every scene. */
  readonly settings?: object;
  /** Workspace files that exist before the first start. */
  readonly files?: Readonly<Record<string, string>>;
  /** How long people write and faults occur, in ms; a minute by default. */
  readonly spanMs?: number;
  /** Promises that only this scene can check, besides the promises of every scene. */
  readonly invariants?: readonly MakeInvariant[];
  /** The faults that make sense in this scene. */
  readonly faults: readonly FaultKind[];
  /** How long the run continues after the last fault even without pending work, in ms. */
  readonly calmMs?: number;
  /** The model's thinking time in ms, if not the default. */
  readonly thinkMs?: readonly [number, number];
  /** The model's answer to a request made by `simulation.time.process`. */
  answer(request: ModelRequest, simulation: Simulation): ModelAnswer;
  /**
   * Loads modules that would otherwise load in the middle of a run; called once, before the first
   * run.
   */
  load?(): Promise<void>;
  /** Creates the additions of the scene; called once per run, before anything starts. */
  bring?(simulation: Simulation): SceneAdditions;
  /** Plans faults at certain moments instead of at random. */
  plan?(chance: RandomChance): readonly SimulationFault[];
  /** Called before anything starts, to create the data of an earlier Parley. */
  prepare?(simulation: Simulation): void;
  /** Kills each process once during its first start. */
  readonly interruptsStart?: true;
  /**
   * Schedules people's actions, on `simulation.time` within `simulation.span` ms. Called once, in
   * the world, when all processes have started.
   */
  people(simulation: Simulation): void;
  /** Called in the world when people first see a bot message. */
  seen?(shown: Omit<DisplayedMessage, 'isDeleted'>, platform: string, simulation: Simulation): void;
  /**
   * Whether the scene still expects something, after the faults have ended, that the tables common
   * to all scenes do not show.
   */
  isUnderWay?(simulation: Simulation): boolean;
}
