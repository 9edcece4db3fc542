import { isDeepStrictEqual } from 'node:util';
import { reasonOf } from '@parley/core';
import { type RunningWorker, startWorker } from './compose-worker.ts';
import { type Foundation, openParts, openServers, type Parts, type Servers } from './open-parts.ts';
import type { PluggedIn } from './plug-in.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import type { LoadedSettings } from './settings.ts';

/** Turns that are under way at a shutdown get this long, then they are released for another run. In ms. */
const SHUTDOWN_GRACE_MS = 4_000;

type Options = StartOptions & OpenLog;

/**
 * What is made of the settings: the agent with its model and tools, and the worker that runs its turns. Other
 * settings take the place of these in one step (D12): turns that are under way end with what they began with,
 * and no message waits for that.
 */
export class Configured {
  readonly #options: Options;
  readonly #foundation: Foundation;
  #plugged: PluggedIn;
  #servers: Servers;
  #parts: Parts;
  #worker: RunningWorker | undefined;
  #workersStarted = 0;
  /** Workers of earlier settings that still have a turn, each until it has ended. */
  readonly #leaving = new Map<RunningWorker, Promise<void>>();
  #isEnding = false;

  static async open(
    options: Options,
    plugged: PluggedIn,
    foundation: Foundation,
  ): Promise<Configured> {
    const servers = await openServers(plugged.loaded.settings, options, foundation);
    const parts = await openParts(options, plugged, foundation, servers);
    return new Configured({ options, plugged, foundation, servers, parts });
  }

  private constructor(made: {
    readonly options: Options;
    readonly plugged: PluggedIn;
    readonly foundation: Foundation;
    readonly servers: Servers;
    readonly parts: Parts;
  }) {
    this.#options = made.options;
    this.#plugged = made.plugged;
    this.#foundation = made.foundation;
    this.#servers = made.servers;
    this.#parts = made.parts;
  }

  /** As the settings are now: to be asked for at each use. */
  get parts(): Parts {
    return this.#parts;
  }

  /** Starts the worker; its turns run from now on. */
  async startWorker(): Promise<void> {
    this.#worker = await this.#newWorker();
  }

  /** Uses other settings; rejects, with everything as it was, where nothing can be made of them. */
  async replace(loaded: LoadedSettings): Promise<void> {
    if (this.#isEnding) return;
    const plugged = { ...this.#plugged, loaded };
    const { mcp } = loaded.settings;
    const isSame = isDeepStrictEqual(mcp, this.#servers.settings);
    const servers = isSame
      ? this.#servers
      : await openServers(loaded.settings, this.#options, this.#foundation);
    const before = { servers: this.#servers, worker: this.#worker };
    try {
      this.#parts = await openParts(this.#options, plugged, this.#foundation, servers, this.#parts);
    } catch (error) {
      if (!isSame) await servers.mcp.close();
      throw error;
    }
    this.#plugged = plugged;
    this.#servers = servers;
    if (before.worker !== undefined) {
      this.#leave(before.worker, async () => {
        if (!isSame) await before.servers.mcp.close();
      });
      this.#worker = await this.#newWorker();
    } else if (!isSame) await before.servers.mcp.close();
  }

  /** Takes no more turns; those that are under way get the time that a shutdown has. */
  async stopWorkers(): Promise<void> {
    this.#isEnding = true;
    const all = [...this.#leaving.keys(), ...(this.#worker ? [this.#worker] : [])];
    await Promise.all(all.map((worker) => worker.stop(SHUTDOWN_GRACE_MS)));
    await Promise.all(this.#leaving.values());
  }

  async close(): Promise<void> {
    this.#isEnding = true;
    await this.#servers.mcp.close();
  }

  /** A turn takes as long as the settings allow it, and its tools a little longer. */
  #leave(worker: RunningWorker, afterwards: () => Promise<void>): void {
    const { limits } = this.#plugged.loaded.settings;
    const stopped = worker
      .stop(2 * limits.turnMinutes * 60_000)
      .then(afterwards)
      .catch((error: unknown) => {
        this.#options.log.warn(
          { reason: reasonOf(error) },
          'what ran with the settings from before did not end in order',
        );
      })
      .finally(() => this.#leaving.delete(worker));
    this.#leaving.set(worker, stopped);
  }

  /** A lease belongs to the worker that runs the turn, so that no other one of this process takes it over. */
  #newWorker(): Promise<RunningWorker> {
    this.#workersStarted += 1;
    const { processId } = this.#foundation;
    const nth = this.#workersStarted;
    return startWorker(this.#parts, nth === 1 ? processId : `${processId}/${nth}`);
  }
}
