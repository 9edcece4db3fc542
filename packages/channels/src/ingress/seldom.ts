import type { Clock } from '@parley/contracts';

/** Says yes once per key and interval: an explanation is kind once and spam the tenth time. */
export function createSeldom(
  intervalMs: number,
  clock: Clock,
  capacity = 1_000,
): (key: string) => boolean {
  const last = new Map<string, number>();
  return (key) => {
    const now = clock();
    const before = last.get(key);
    if (before !== undefined && now - before < intervalMs) return false;
    last.delete(key);
    last.set(key, now);
    const oldest = last.keys().next().value;
    if (last.size > capacity && oldest !== undefined) last.delete(oldest);
    return true;
  };
}
