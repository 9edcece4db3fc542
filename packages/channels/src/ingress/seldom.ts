import { BoundedMap, type Clock } from '@parley/contracts';

/** Says yes once per key and interval: an explanation is kind once and spam the tenth time. */
export function createSeldom(
  intervalMs: number,
  clock: Clock,
  capacity = 1_000,
): (key: string) => boolean {
  const last = new BoundedMap<string, number>(capacity);
  return (key) => {
    const now = clock();
    const before = last.get(key);
    if (before !== undefined && now - before < intervalMs) return false;
    last.set(key, now);
    return true;
  };
}
