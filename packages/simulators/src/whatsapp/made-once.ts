/**
 * Keys with signatures, which take 8 ms each, are made once for all doubles of a process: the first person of each double
 * has the same ones, and so has its server. Within a double they differ. What is made here is never changed.
 */
export function madeOnce<T>(make: () => T): (nth: number) => T {
  const made: T[] = [];
  return (nth) => {
    const found = made[nth] ?? make();
    made[nth] = found;
    return found;
  };
}
