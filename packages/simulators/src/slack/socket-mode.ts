import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Delivery, DeliveryResult, RetryInfo } from './delivery.ts';
import { isRecord } from './wire.ts';

/** The reason in a `disconnect` message. */
export type DisconnectReason = 'warning' | 'refresh_requested' | 'link_disabled';

interface Connection {
  readonly socket: WebSocket;
  /** Whether the server has stopped sending to the client, as if the network were broken. */
  isMute: boolean;
  /** Whether the client was asked to reconnect; new envelopes use other connections. */
  isLeaving: boolean;
}

interface PendingAcknowledgement {
  readonly connection: Connection;
  readonly settle: (attempt: DeliveryResult) => void;
}

/** The maximum number of concurrent connections of an app. */
const MAX_CONNECTIONS = 10;
/**
 * The ping interval, and the time a connection stays open after the client was asked to reconnect.
 */
const PING_EVERY_MS = 10_000;
const LEAVE_WITHIN_MS = 10_000;

/** The WebSocket side of Socket Mode: tickets, connections, envelopes and acknowledgements. */
export class SocketMode {
  readonly #server = new WebSocketServer({ noServer: true, autoPong: false });
  readonly #appId: string;
  readonly #changed: () => void;
  readonly #tickets = new Set<string>();
  readonly #waiting = new Map<string, PendingAcknowledgement>();
  #connections: Connection[] = [];
  #number = 0;
  #next = 0;

  /** @param changed is called when a client connects or disconnects */
  constructor(appId: string, changed: () => void) {
    this.#appId = appId;
    this.#changed = changed;
  }

  get connections(): number {
    return this.#connections.length;
  }

  /** Implements `apps.connections.open`, which returns a URL that is valid for one connection. */
  open(origin: string): string {
    const ticket = this.#newId('ticket');
    this.#tickets.add(ticket);
    const address = new URL('/link/', origin.replace(/^http/, 'ws'));
    address.searchParams.set('ticket', ticket);
    address.searchParams.set('app_id', this.#appId);
    return address.href;
  }

  /** Accepts a connection with a valid ticket. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const ticket = new URL(request.url ?? '/', 'http://double').searchParams.get('ticket');
    if (!this.#tickets.delete(ticket ?? '') || this.#connections.length >= MAX_CONNECTIONS) {
      stream.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    this.#server.handleUpgrade(request, stream, head, (socket) => this.#welcome(socket));
  }

  /** Sends an envelope and waits for its acknowledgement. */
  deliver(
    { type, payload }: Delivery,
    retry: RetryInfo,
    withinMs: number,
  ): Promise<DeliveryResult> {
    const connection = this.#nextConnection();
    if (connection === undefined)
      return Promise.resolve({ isAccepted: false, reason: 'connection_failed' });
    const id = this.#newId('envelope');
    return new Promise((resolve) => {
      const settle = (attempt: DeliveryResult) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(attempt);
      };
      const timer = setTimeout(() => settle({ isAccepted: false, reason: 'timeout' }), withinMs);
      this.#waiting.set(id, { connection, settle });
      sendFrame(connection, {
        envelope_id: id,
        payload,
        type,
        accepts_response_payload: type !== 'events_api',
        ...(type === 'events_api' && { retry_attempt: retry.attempt, retry_reason: retry.reason }),
      });
    });
  }

  /** Asks every client to reconnect and closes the old connections after a delay. */
  askToLeave(reason: DisconnectReason): void {
    for (const connection of this.#connections) {
      connection.isLeaving = true;
      sendFrame(connection, {
        type: 'disconnect',
        reason,
        debug_info: { host: 'applink-double-1' },
      });
      setTimeout(() => connection.socket.close(), LEAVE_WITHIN_MS).unref();
    }
  }

  /** Cuts every connection without a closing handshake, like a network failure. */
  drop(): void {
    for (const { socket } of this.#connections) socket.terminate();
  }

  /** Stops sending to the currently connected clients, including responses to their pings. */
  mute(): void {
    for (const connection of this.#connections) connection.isMute = true;
  }

  close(): void {
    this.drop();
    this.#server.close();
  }

  #welcome(socket: WebSocket): void {
    const connection: Connection = { socket, isMute: false, isLeaving: false };
    this.#connections.push(connection);
    const pinging = setInterval(() => {
      if (!connection.isMute) socket.ping('Ping from the double');
    }, PING_EVERY_MS);
    socket.on('ping', (data) => {
      if (!connection.isMute) socket.pong(data);
    });
    socket.on('message', (data) => this.#onMessage(String(data)));
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      clearInterval(pinging);
      this.#connections = this.#connections.filter((other) => other !== connection);
      for (const { connection: of, settle } of this.#waiting.values())
        if (of === connection) settle({ isAccepted: false, reason: 'connection_failed' });
      this.#changed();
    });
    sendFrame(connection, {
      type: 'hello',
      num_connections: this.#connections.length,
      debug_info: {
        host: 'applink-double-1',
        build_number: 1,
        approximate_connection_time: 18_060,
      },
      connection_info: { app_id: this.#appId },
    });
    this.#changed();
  }

  /** Connections receive envelopes in turn; the real Slack may choose any connection. */
  #nextConnection(): Connection | undefined {
    const open = this.#connections.filter(({ isLeaving }) => !isLeaving);
    this.#next += 1;
    return open[this.#next % Math.max(1, open.length)] ?? this.#connections[0];
  }

  #onMessage(text: string): void {
    const message = parseJson(text);
    if (!isRecord(message) || typeof message.envelope_id !== 'string') return;
    const { payload } = message;
    this.#waiting.get(message.envelope_id)?.settle({ isAccepted: true, body: payload });
  }

  #newId(kind: string): string {
    this.#number += 1;
    return `${kind}-${String(this.#number).padStart(6, '0')}`;
  }
}

function sendFrame({ socket, isMute }: Connection, message: object): void {
  if (!isMute && socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
