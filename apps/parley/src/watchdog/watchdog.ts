import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { type Logger, reasonOf } from '@parley/core';
import { resolveModuleUrl } from '@parley/core/installation';
import { computeStallLimits } from './stall.ts';

/**
 * The watchdog thread's input: two shared integers (event loop beats, limit in ms) and the path of
 * the record.
 */
export interface WatchdogInput {
  readonly shared: SharedArrayBuffer;
  /** The path of the record; null if work cannot be recorded, for example on a full disk. */
  readonly path: string | null;
}

/** Ends this process when its event loop is blocked for too long. */
export interface Watchdog {
  /** Sets the limit in seconds; it applies immediately. */
  use(limit: number | 'off'): void;
  close(): void;
}

/**
 * A watchdog that does nothing, for code that does not own its process, such as a test or a program
 * that embeds Parley.
 */
export const noWatchdog: Watchdog = { use() {}, close() {} };

const SOURCE = new URL('./watchdog-thread.ts', import.meta.url);
/**
 * The smallest memory limits (MB) that Node allows. The thread lives as long as the process, so it
 * should stay small.
 */
const MEMORY = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16, stackSizeMb: 1 };

/**
 * Creates a watchdog without starting it. Processes with an attached debugger are not watched,
 * because they stop at breakpoints.
 */
export function openWatchdog({
  path,
  log,
}: Pick<WatchdogInput, 'path'> & { readonly log: Pick<Logger, 'warn'> }): Watchdog {
  let running: { readonly thread: Worker; readonly numbers: Int32Array } | undefined;
  let beating: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearInterval(beating);
    void running?.thread.terminate();
    running = undefined;
  };
  const start = (limitMs: number): void => {
    const shared = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
    const numbers = new Int32Array(shared);
    Atomics.store(numbers, 1, limitMs);
    const workerData: WatchdogInput = { shared, path };
    const thread = new Worker(resolveModuleUrl('watchdog-thread', SOURCE), {
      workerData,
      resourceLimits: MEMORY,
      env: {},
      execArgv: [],
    });
    thread.unref();
    thread.once('error', (error) => {
      log.warn(
        { reason: reasonOf(error) },
        'the watchdog has failed; Parley will not be restarted after a hang',
      );
      stop();
    });
    running = { thread, numbers };
    beating = setInterval(
      () => Atomics.add(numbers, 0, 1),
      computeStallLimits(limitMs).tickMs,
    ).unref();
  };
  return {
    use(limit) {
      const limitMs = limit === 'off' ? 0 : limit * 1_000;
      // The check interval depends on the limit, so a new limit needs a new thread.
      if (running !== undefined && Atomics.load(running.numbers, 1) === limitMs) return;
      stop();
      if (limitMs > 0 && inspectorUrl() === undefined) start(limitMs);
    },
    close: stop,
  };
}
