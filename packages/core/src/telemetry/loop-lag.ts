import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How late the event loop is. */
export interface LoopLag {
  /** In seconds since the reading before; the first one only begins to measure, and says nothing. */
  read(): Readonly<Record<'0.5' | '0.99' | '1', number>> | null;
}

/** Looks so often, in ms; what is shorter is not seen. */
const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

/** Measures from the first reading on, so that a process without scrapes is not woken for it. */
export function openLoopLag(): LoopLag {
  let histogram: ReturnType<typeof monitorEventLoopDelay> | undefined;
  return {
    read() {
      if (histogram === undefined) {
        histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
        histogram.enable();
        return null;
      }
      // It measures from one look to the next: a look that is on time says the resolution.
      const late = (value: number) => Math.max(0, value / NANOSECONDS - RESOLUTION_MS / 1_000);
      const lag = {
        '0.5': late(histogram.percentile(50)),
        '0.99': late(histogram.percentile(99)),
        '1': late(histogram.max),
      };
      histogram.reset();
      return lag;
    },
  };
}
