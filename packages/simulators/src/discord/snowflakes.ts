const DISCORD_EPOCH_MS = 1_420_070_400_000;

/** Ids as Discord makes them: they grow, and the time is in them. */
export class Snowflakes {
  readonly #clock: () => number;
  #last = 0n;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  next(): string {
    const now = BigInt(Math.floor(this.#clock()) - DISCORD_EPOCH_MS) << 22n;
    this.#last = now > this.#last ? now : this.#last + 1n;
    return String(this.#last);
  }
}
