import type { RandomChance } from '../engine/chance.ts';
import type { VirtualTime } from '../engine/virtual-time.ts';

/**
 * How a server of the simulation handles a request. The handler may take time, and rejects to
 * simulate a broken connection.
 */
export type ServeRequest = (request: ServedRequest) => Promise<ServedResponse>;

export interface ServedRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string;
  readonly signal: AbortSignal;
}

/**
 * A response whose body arrives in pieces, each after a delay. `breaks` means that the connection
 * breaks after the last piece.
 */
export interface ServedResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly { readonly afterMs: number; readonly text: string }[];
  readonly ends?: 'whole' | 'breaks' | 'never';
}

/** The hosts reachable by `fetch`, each served by a server of the simulation. */
export class SimulatedNetwork {
  readonly #time: VirtualTime;
  readonly #chance: () => RandomChance;
  readonly #hosts = new Map<string, ServeRequest>();

  constructor(time: VirtualTime, chance: () => RandomChance) {
    this.#time = time;
    this.#chance = chance;
  }

  /** Replaces `fetch` with this network. */
  install(): void {
    globalThis.fetch = (input, init) => this.#fetch(String(input), init ?? {});
  }

  serve(host: string, serve: ServeRequest): void {
    this.#hosts.set(host, serve);
  }

  async #fetch(
    address: string,
    { body, signal, method = 'GET', headers }: RequestInit,
  ): Promise<Response> {
    const url = new URL(address);
    const serve = this.#hosts.get(url.hostname);
    if (serve === undefined) throw new TypeError(`fetch failed: no host ${url.hostname}`);
    const fired = signal ?? new AbortController().signal;
    const abandoned = new Promise<never>((_, reject) => {
      if (fired.aborted) reject(fired.reason);
      fired.addEventListener('abort', () => reject(fired.reason), { once: true });
    });
    abandoned.catch(() => undefined);
    const way = () =>
      new Promise<void>((resolve) => void this.#time.plan(this.#chance().between(0.2, 5), resolve));
    const answered = way().then(() =>
      serve({
        url,
        method,
        headers: new Headers(headers),
        body: String(body ?? ''),
        signal: fired,
      }),
    );
    const served = await Promise.race([answered, abandoned]);
    await Promise.race([way(), abandoned]);
    return new Response(served.status === 204 ? null : this.#bodyOf(served, fired), {
      status: served.status,
      headers: served.headers ?? {},
    });
  }

  /**
   * Each piece is an event of the process that made the request, so a killed process stops reading.
   */
  #bodyOf(
    { pieces, ends = 'whole' }: ServedResponse,
    signal: AbortSignal,
  ): ReadableStream<Uint8Array> {
    const bytes = new TextEncoder();
    let cancel = (): void => {};
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        const next = (at: number): void => {
          const piece = pieces[at];
          if (piece === undefined) {
            if (ends === 'whole') controller.close();
            if (ends === 'breaks') controller.error(new TypeError('terminated'));
            return;
          }
          cancel = this.#time.plan(piece.afterMs, () => {
            controller.enqueue(bytes.encode(piece.text));
            next(at + 1);
          });
        };
        const abort = (): void => {
          cancel();
          controller.error(signal.reason);
        };
        signal.addEventListener('abort', abort, { once: true });
        next(0);
      },
      cancel: () => cancel(),
    });
  }
}
