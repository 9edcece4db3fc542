import { performance } from 'node:perf_hooks';

/** Ms since 1970 with fractions, the same in every process of this machine. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}
