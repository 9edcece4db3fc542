import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { type Logger, reasonOf } from '@parley/core';
import { moduleUrl } from '@parley/core/installation';
import { stallLimits } from './stall.ts';

/** The input of the thread: two shared integers (beats of the event loop, limit in ms), and the file it writes to. */
export interface WatchOrder {
  readonly shared: SharedArrayBuffer;
  /** Null: what was being done cannot be recorded, as on a full disk. */
  readonly path: string | null;
}

/** Ends this process when its event loop stands still. */
export interface Watchdog {
  /** After how many seconds; it takes effect at once. */
  use(limit: number | 'off'): void;
  close(): void;
}

/** No process of its own: a test, or a program around Parley. */
export const noWatchdog: Watchdog = { use() {}, close() {} };

const SOURCE = new URL('./watchdog-thread.ts', import.meta.url);
/** As small as Node allows, because the thread is there as long as the process. In MB. */
const MEMORY = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16, stackSizeMb: 1 };

/** Starts nothing yet. A process with a debugger is not watched: it stands still at each breakpoint. */
export function openWatchdog({
  path,
  log,
}: Pick<WatchOrder, 'path'> & { readonly log: Pick<Logger, 'warn'> }): Watchdog {
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
    const workerData: WatchOrder = { shared, path };
    const thread = new Worker(moduleUrl('watchdog-thread', SOURCE), {
      workerData,
      resourceLimits: MEMORY,
      env: {},
      execArgv: [],
    });
    thread.unref();
    thread.once('error', (error) => {
      log.warn({ reason: reasonOf(error) }, 'the watchdog has failed; a hang does not end Parley');
      stop();
    });
    running = { thread, numbers };
    beating = setInterval(() => Atomics.add(numbers, 0, 1), stallLimits(limitMs).tickMs).unref();
  };
  return {
    use(limit) {
      const limitMs = limit === 'off' ? 0 : limit * 1_000;
      // The thread looks as often as its limit wants, so another limit means another thread.
      if (running !== undefined && Atomics.load(running.numbers, 1) === limitMs) return;
      stop();
      if (limitMs > 0 && inspectorUrl() === undefined) start(limitMs);
    },
    close: stop,
  };
}
