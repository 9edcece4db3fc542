import { isDeepStrictEqual } from 'node:util';
import { reasonOf } from '@parley/core';
import {
  type AgentsRuntime,
  type McpServices,
  openAgents,
  openMcpServices,
} from './agents-runtime.ts';
import { type RunningWorker, startWorker } from './compose-worker.ts';
import type { LoadedPlugins } from './plug-in.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import type { ProcessServices } from './process-services.ts';
import type { LoadedSettings } from './settings.ts';

/**
 * How long (ms) running turns may continue during a shutdown; then they are released and run again
 * later.
 */
const SHUTDOWN_GRACE_MS = 4_000;

type RuntimeOptions = StartOptions & OpenLog;

/**
 * The agents for the current settings, and the worker that runs their turns. New settings replace
 * both in one step (D12). Running turns finish with the settings they started with, and new
 * messages do not wait for them. Adapters stay connected during a reload.
 */
export class ReloadableRuntime {
  readonly #options: RuntimeOptions;
  readonly #services: ProcessServices;
  #plugins: LoadedPlugins;
  #mcp: McpServices;
  #current: AgentsRuntime;
  #worker: RunningWorker | undefined;
  #workersStarted = 0;
  /** Workers that still run turns with earlier settings. */
  readonly #leaving = new Map<RunningWorker, Promise<void>>();
  #isEnding = false;

  static async open(
    options: RuntimeOptions,
    plugins: LoadedPlugins,
    services: ProcessServices,
  ): Promise<ReloadableRuntime> {
    const mcp = await openMcpServices(plugins.loaded.settings, options, services);
    const current = await openAgents(options, plugins, services, mcp);
    return new ReloadableRuntime({ options, plugins, services, mcp, current });
  }

  private constructor(made: {
    readonly options: RuntimeOptions;
    readonly plugins: LoadedPlugins;
    readonly services: ProcessServices;
    readonly mcp: McpServices;
    readonly current: AgentsRuntime;
  }) {
    this.#options = made.options;
    this.#plugins = made.plugins;
    this.#services = made.services;
    this.#mcp = made.mcp;
    this.#current = made.current;
  }

  /**
   * The agents for the current settings. Read this property on each use, since a reload replaces
   * its value.
   */
  get current(): AgentsRuntime {
    return this.#current;
  }

  async startWorker(): Promise<void> {
    this.#worker = await this.#newWorker();
  }

  /**
   * Switches to new settings. If the settings cannot be applied, it rejects and leaves everything
   * unchanged.
   */
  async replace(loaded: LoadedSettings): Promise<void> {
    if (this.#isEnding) return;
    const plugins = { ...this.#plugins, loaded };
    const isSame = isDeepStrictEqual(loaded.settings.mcp, this.#mcp.settings);
    const mcp = isSame
      ? this.#mcp
      : await openMcpServices(loaded.settings, this.#options, this.#services);
    const before = { mcp: this.#mcp, worker: this.#worker };
    try {
      this.#current = await openAgents(this.#options, plugins, this.#services, mcp, this.#current);
    } catch (error) {
      if (!isSame) await mcp.mcp.close();
      throw error;
    }
    this.#plugins = plugins;
    this.#mcp = mcp;
    if (before.worker !== undefined) {
      this.#leave(before.worker, async () => {
        if (!isSame) await before.mcp.mcp.close();
      });
      this.#worker = await this.#newWorker();
    } else if (!isSame) await before.mcp.mcp.close();
  }

  /** Stops all workers after the grace period for running turns. */
  async stopWorkers(): Promise<void> {
    this.#isEnding = true;
    const all = [...this.#leaving.keys(), ...(this.#worker ? [this.#worker] : [])];
    await Promise.all(all.map((worker) => worker.stop(SHUTDOWN_GRACE_MS)));
    await Promise.all(this.#leaving.values());
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    await this.#mcp.mcp.close();
  }

  /**
   * The deadline is twice the maximum duration of a turn, because its tools may take a little
   * longer.
   */
  #leave(worker: RunningWorker, afterwards: () => Promise<void>): void {
    const { limits } = this.#plugins.loaded.settings;
    const stopped = worker
      .stop(2 * limits.turnMinutes * 60_000)
      .then(afterwards)
      .catch((error: unknown) => {
        this.#options.log.warn(
          { reason: reasonOf(error) },
          'the worker with the earlier settings did not stop cleanly',
        );
      })
      .finally(() => this.#leaving.delete(worker));
    this.#leaving.set(worker, stopped);
  }

  /**
   * Each worker has its own lease owner, so that no other worker in this process takes over its
   * turns.
   */
  #newWorker(): Promise<RunningWorker> {
    this.#workersStarted += 1;
    const { processId } = this.#services;
    const nth = this.#workersStarted;
    return startWorker(this.#current, nth === 1 ? processId : `${processId}/${nth}`);
  }
}
