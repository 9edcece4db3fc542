import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { guarded } from '@parley/channels';
import { reasonOf } from '@parley/core';
import { z } from 'zod';
import type { LinesSettings } from './settings.ts';

/** Events from the server, one JSON document per line. */
const LinesEvent = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('message'),
    id: z.string(),
    room: z.string(),
    direct: z.boolean(),
    from: z.string(),
    text: z.string(),
    mentioned: z.boolean(),
    replyTo: z.object({ id: z.string(), from: z.string() }).optional(),
  }),
  z.object({ kind: z.literal('sent'), key: z.string(), id: z.string() }),
  z.object({ kind: z.literal('refused'), key: z.string(), retryAfterMs: z.number() }),
]);
export type LinesEvent = z.infer<typeof LinesEvent>;

/** Receives the events of a connection. */
export interface LinesListener {
  opened(): void;
  heard(event: LinesEvent): void;
  /** `retryMs` is the delay before the next attempt to connect. */
  lost(reason: string, retryMs: number): void;
}

const RECONNECT_MS = 500;

/** A connection to the server that reconnects until it is closed. */
export class LinesConnection {
  readonly #settings: LinesSettings;
  readonly #listener: LinesListener;
  #socket: Socket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: LinesSettings, listener: LinesListener) {
    this.#settings = settings;
    this.#listener = listener;
  }

  open(): void {
    const { host, port, name } = this.#settings;
    let reason = 'the connection ended';
    const socket = connect(port, host);
    const opened = guarded('connect', () => {
      this.#socket = socket;
      this.write({ kind: 'hello', name });
      this.#listener.opened();
    });
    socket.on('connect', opened);
    socket.on('error', (error) => {
      reason = reasonOf(error);
    });
    const closed = guarded('close', () => {
      this.#socket = undefined;
      if (this.#closed) return;
      this.#listener.lost(reason, RECONNECT_MS);
      const again = guarded('reconnect', () => this.open());
      this.#retry = setTimeout(again, RECONNECT_MS);
    });
    socket.on('close', closed);
    const heard = (line: string) => this.#listener.heard(LinesEvent.parse(JSON.parse(line)));
    createInterface(socket)
      .on('line', guarded('line', heard))
      // The socket also emits this error as an event.
      .on('error', () => {});
  }

  /** Returns false if there is no connection; in that case nothing was written. */
  write(line: object): boolean {
    this.#socket?.write(`${JSON.stringify(line)}\n`);
    return this.#socket !== undefined;
  }

  /** Closes this connection; a new one is opened automatically. */
  drop(): void {
    this.#socket?.destroy();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#socket?.destroy();
  }
}
