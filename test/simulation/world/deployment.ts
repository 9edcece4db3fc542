import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ChannelDefinition } from '@parley/channels';
import { locateDataFolder, type RunningParley, startParley } from '@parley/cli';
import { systemTime } from '@parley/core';
import type { ProcessRole } from '@parley/store';
import type { SimulationMachine } from '../engine/machine.ts';
import type { SimulatedProcess } from '../engine/virtual-time.ts';

/** How long a startup may take, in simulated ms. */
const START_MS = 60_000;

/** One line of a log. */
export interface LogLine {
  readonly at: number;
  readonly process: string;
  readonly line: string;
}

/** State shared by all processes of a deployment. */
export interface DeploymentOptions {
  readonly folder: string;
  readonly channels: readonly ChannelDefinition[];
  readonly settings: object;
  /** Called when a process has ended, whether killed or shut down. */
  readonly onEnd?: (process: SimulatedProcess) => void;
  /** Workspace files that exist before the first start. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** A process of Parley, started by the same function as in production. */
export interface RunningProcess {
  readonly process: SimulatedProcess;
  readonly role: ProcessRole;
  /** The running Parley; undefined while it starts and after a failed start. */
  parley: RunningParley | undefined;
  isStarting: boolean;
}

/** Starts and kills processes of Parley on one data folder. */
export class Deployment {
  readonly log: LogLine[] = [];
  readonly running = new Map<string, RunningProcess>();
  /** Called when a process has failed to start. */
  onFailedStart: (name: string) => void = () => {};
  readonly #machine: SimulationMachine;
  readonly #options: DeploymentOptions;
  #starts = 0;

  constructor(machine: SimulationMachine, options: DeploymentOptions) {
    this.#machine = machine;
    this.#options = options;
    mkdirSync(options.folder, { recursive: true });
    this.writeSettings(options.settings);
    for (const [name, text] of Object.entries(options.files ?? {})) {
      mkdirSync(dirname(this.pathOf(name)), { recursive: true });
      writeFileSync(this.pathOf(name), text);
    }
  }

  /** The path of a workspace file. */
  pathOf(name: string): string {
    return join(this.#options.folder, 'workspace', name);
  }

  /** Replaces the settings file with any text, in one step. */
  writeSettingsText(text: string): void {
    const file = join(this.#options.folder, 'parley.yaml');
    writeFileSync(file, text);
    this.#machine.files.assumeSynced(file);
  }

  /**
   * Writes the settings that the processes read at startup and watch while they run. JSON is valid
   * YAML.
   */
  writeSettings(settings: object): void {
    this.writeSettingsText(JSON.stringify(settings));
  }

  /** Starts a process under a name; resolves when it is running or has failed. */
  async start(name: string, role: ProcessRole): Promise<RunningProcess> {
    const { time } = this.#machine;
    const running = this.begin(name, role);
    await time.runUntil(time.now + START_MS, () => !running.isStarting);
    return running;
  }

  /** Kills a process after this many events of its startup. */
  async startAndKill(name: string, role: ProcessRole, steps: number): Promise<void> {
    const { time } = this.#machine;
    const last = time.fired + steps;
    const running = this.begin(name, role);
    await time.runUntil(time.now + START_MS, () => time.fired >= last || !running.isStarting);
    this.kill(name);
  }

  /** Begins to start a process under a name that no running process has. */
  begin(name: string, role: ProcessRole): RunningProcess {
    const { time } = this.#machine;
    this.#starts += 1;
    const process: SimulatedProcess = {
      name: `${name}.${this.#starts}`,
      alive: true,
      clockAhead: this.running.get(name)?.process.clockAhead ?? 0,
      pausedUntil: 0,
      busyUntil: 0,
    };
    const running: RunningProcess = { process, role, parley: undefined, isStarting: true };
    this.running.set(name, running);
    time.as(process, () => void this.#open(name, running));
    return running;
  }

  async #open(name: string, running: RunningProcess): Promise<void> {
    const { time } = this.#machine;
    const { process, role } = running;
    const note = (line: string): void => {
      this.log.push({ at: time.now, process: process.name, line });
    };
    try {
      running.parley = await startParley({
        folder: locateDataFolder(this.#options.folder, {}),
        env: {},
        role,
        port: 0,
        ...systemTime,
        checkpoint() {},
        channels: this.#options.channels,
        logTo: { write: note },
      });
    } catch (error) {
      note(`the start failed: ${String(error)}`);
      process.alive = false;
      this.#machine.databases.closeAllOf(process);
      running.isStarting = false;
      if (this.running.get(name) === running) this.onFailedStart(name);
    }
    running.isStarting = false;
  }

  /** Ends a process between two steps, as `kill -9` does. */
  kill(name: string): void {
    const running = this.running.get(name);
    if (running === undefined) return;
    running.process.alive = false;
    running.isStarting = false;
    this.#machine.databases.closeAllOf(running.process);
    this.#options.onEnd?.(running.process);
  }

  /** Shuts a process down gracefully, as SIGTERM does. */
  async stop(name: string): Promise<void> {
    const { time } = this.#machine;
    const running = this.running.get(name);
    if (running?.parley === undefined) return this.kill(name);
    let isOver = false;
    const { parley, process } = running;
    time.as(process, () => {
      parley.close().finally(() => {
        isOver = true;
      });
    });
    await time.runUntil(time.now + START_MS, () => isOver || !process.alive);
    this.kill(name);
  }

  /** The names of the running processes. */
  get alive(): readonly string[] {
    return [...this.running].filter(([, { process }]) => process.alive).map(([name]) => name);
  }
}
