import type { WireMessage } from './wire.ts';

/** Which message came with which nonce, so that the same nonce gives the same message. */
export class Nonces {
  readonly #clock: () => number;
  readonly #known = new Map<string, { readonly message: WireMessage; readonly at: number }>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  remember(nonce: string | number | null | undefined, message: WireMessage): void {
    if (nonce === null || nonce === undefined) return;
    this.#known.set(String(nonce), { message, at: this.#clock() });
  }

  /** The message with this nonce, if it was sent within `maxAgeMs`. */
  find(nonce: string | number | null | undefined, maxAgeMs: number): WireMessage | undefined {
    if (nonce === null || nonce === undefined) return undefined;
    const known = this.#known.get(String(nonce));
    return known !== undefined && this.#clock() - known.at < maxAgeMs ? known.message : undefined;
  }
}
