import type { SendRate } from './platform-kind.ts';

/** Token buckets by name, each stored as the time at which it is full again (GCRA). */
export class TokenBuckets {
  readonly #fullAt = new Map<string, number>();

  /**
   * Takes a token and returns 0, or returns the ms until one is available. `slack` is the tolerance
   * in ms within which an early call still counts as in time.
   */
  take(name: string, { burst, everyMs }: SendRate, now: number, slack = 0): number {
    const fullAt = Math.max(this.#fullAt.get(name) ?? 0, now);
    const wait = fullAt - (burst - 1) * everyMs - now;
    if (wait > slack) return wait;
    this.#fullAt.set(name, fullAt + everyMs);
    return 0;
  }

  clear(): void {
    this.#fullAt.clear();
  }
}
