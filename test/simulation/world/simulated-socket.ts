import { EventEmitter } from 'node:events';
import type { SimulatedProcess, VirtualTime } from '../engine/virtual-time.ts';

/** The transit time of a frame, in ms. */
const WAY_MS = 8;
/** The `readyState` values of the standard. */
const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];
/**
 * The time in ms after which a connection is dropped if its peer does not answer a close, as in
 * `ws`.
 */
const CLOSE_WITHIN_MS = 30_000;
/** The close code of a connection that ends without a close frame. */
const ABNORMAL = 1006;

/** Accepts connections in the world. */
export interface SocketServer {
  readonly time: VirtualTime;
  /** Whether a connection is established; must not throw. */
  accept(url: string, socket: ServerSideSocket): boolean;
  /** Called with a request at the moment a process makes it. */
  asked?(method: string, url: string): void;
}

/**
 * The server to which sockets currently connect; set by a simulation, because the modules that open
 * sockets pass nothing from one.
 */
export const socketsNow: { server: SocketServer | null } = { server: null };

/** All data in transit in one direction, kept in order as by TCP. */
class TransitLane {
  readonly #time: VirtualTime;
  readonly #to: SimulatedProcess | undefined;
  #last = 0;

  constructor(time: VirtualTime, to: SimulatedProcess | undefined) {
    this.#time = time;
    this.#to = to;
  }

  send(arrive: () => void): void {
    const { now } = this.#time;
    this.#last = Math.max(this.#last, now + WAY_MS);
    const afterMs = this.#last - now;
    this.#time.as(this.#to, () => void this.#time.plan(afterMs, arrive));
  }
}

type SocketListener<Event> = ((event: Event) => void) | null;

/**
 * A simulated process's WebSocket, compatible with `ws` and with the standard: it replaces `ws` for
 * discord.js, and the standard WebSocket for Parley's own session resumption.
 */
export class WebSocket {
  static readonly CONNECTING = CONNECTING;
  static readonly OPEN = OPEN;
  static readonly CLOSING = CLOSING;
  static readonly CLOSED = CLOSED;
  readonly OPEN = OPEN;
  readyState: number = CONNECTING;
  binaryType = 'arraybuffer';
  onopen: SocketListener<object> = null;
  onmessage: SocketListener<{ readonly data: string }> = null;
  onerror: SocketListener<{ readonly error: Error }> = null;
  onclose: SocketListener<{ readonly code: number; readonly reason: string }> = null;
  readonly #server: ServerSideSocket;
  readonly #there: TransitLane;
  readonly #time: VirtualTime;

  constructor(url: string) {
    const { server } = socketsNow;
    if (server === null) throw new Error('this simulation has no sockets');
    const { time } = server;
    this.#time = time;
    this.#there = new TransitLane(time, undefined);
    this.#server = new ServerSideSocket(this, new TransitLane(time, time.process), time.process);
    this.#there.send(() => {
      if (server.accept(url, this.#server)) return;
      this.#server.refuse();
    });
  }

  send(text: string): void {
    if (this.readyState !== OPEN) return;
    this.#there.send(() => this.#server.receive(text));
  }

  close(code = 1000): void {
    if (this.readyState >= CLOSING) return;
    this.readyState = CLOSING;
    this.#there.send(() => this.#server.farewell(code));
    this.#time.plan(CLOSE_WITHIN_MS, () => this.end(ABNORMAL));
  }

  terminate(): void {
    if (this.readyState === CLOSED) return;
    this.#there.send(() => this.#server.lose());
    this.end(ABNORMAL);
  }

  /** The connection is open. */
  begin(): void {
    if (this.readyState !== CONNECTING) return;
    this.readyState = OPEN;
    this.onopen?.({});
  }

  /** A frame has arrived. */
  arrive(data: string): void {
    if (this.readyState === OPEN || this.readyState === CLOSING) this.onmessage?.({ data });
  }

  /** The connection has ended. */
  end(code: number): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    if (code === ABNORMAL) this.onerror?.({ error: new Error('the connection was reset') });
    this.onclose?.({ code, reason: '' });
  }
}

/** The other end, in the form that the Discord double expects. */
export class ServerSideSocket extends EventEmitter {
  readonly OPEN = OPEN;
  readonly process: SimulatedProcess | undefined;
  readyState: number = OPEN;
  readonly #client: WebSocket;
  readonly #back: TransitLane;
  /** Incoming frames are discarded silently. */
  #isPaused = false;

  constructor(client: WebSocket, back: TransitLane, process: SimulatedProcess | undefined) {
    super();
    this.#client = client;
    this.#back = back;
    this.process = process;
  }

  /** Tells the client that the connection is open. */
  welcome(): void {
    this.#back.send(() => this.#client.begin());
  }

  refuse(): void {
    this.readyState = CLOSED;
    this.#back.send(() => this.#client.end(ABNORMAL));
  }

  send(text: string): void {
    if (this.readyState === OPEN) this.#back.send(() => this.#client.arrive(text));
  }

  close(code: number, _reason?: string): void {
    if (this.readyState === CLOSED) return;
    this.#back.send(() => this.#client.end(code));
    this.lose(code);
  }

  terminate(): void {
    this.close(ABNORMAL);
  }

  pause(): void {
    this.#isPaused = true;
  }

  receive(text: string): void {
    if (this.readyState === OPEN && !this.#isPaused) this.emit('message', text);
  }

  /** The client has closed the connection. */
  farewell(code: number): void {
    if (this.readyState === CLOSED || this.#isPaused) return;
    this.#back.send(() => this.#client.end(code));
    this.lose(code);
  }

  /** The connection is lost, whether or not the client has noticed. */
  lose(code = ABNORMAL): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.emit('close', code);
  }
}
