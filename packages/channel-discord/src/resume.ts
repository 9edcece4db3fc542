import { guarded } from '@parley/channels';
import { type AdapterValues, BoundedMap, type Logger, reasonOf } from '@parley/core';
import { z } from 'zod';
import type { Later } from './connection.ts';
import { Snowflake } from './wire.ts';

/** Up to where the messages of this account are stored. */
export interface Cursors {
  /** All messages up to this one are stored; undefined before the first one ever. */
  readonly newest?: string | undefined;
  /** The newest stored message of each channel that is served. */
  readonly channels: ReadonlyMap<string, string>;
}

const Position = z.object({
  session: z.string(),
  /** The gateway to resume at. */
  url: z.string(),
  /** The bot's own id. */
  me: Snowflake,
  /** Sequence number of the last event. */
  seq: z.int(),
});
/** Position in a session of the gateway, which delivers what follows again when it is resumed. */
export type Position = z.infer<typeof Position>;

const Stored = z.object({
  newest: Snowflake.optional(),
  channels: z.record(Snowflake, Snowflake),
  session: Position.optional().catch(undefined),
});
const KIND = 'seen';
const ID = 'all';
/** The positions are written this much later, in ms. */
const WRITE_MS = 5_000;
/** Channels kept; the one that was silent longest is dropped first. */
const MOST_CHANNELS = 1_000;

/**
 * Remembers the last stored message of each channel that is served, so that messages missed while the bot
 * was away can be fetched. A new channel is written at once; positions may be a little old after a crash,
 * since a message that is fetched twice is recognised.
 */
export class Seen {
  readonly #values: Pick<AdapterValues, 'get' | 'set'>;
  readonly #log: Logger;
  readonly #later: Later;
  readonly #channels = new BoundedMap<string, string>(MOST_CHANNELS);
  /** Messages in progress, each with the session position before it. */
  readonly #inProgress = new Map<string, Position | undefined>();
  #newest: string | undefined;
  #isNew = true;
  #position: Position | undefined;
  #cancelWrite: (() => void) | undefined;
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(values: Pick<AdapterValues, 'get' | 'set'>, log: Logger, later: Later) {
    this.#values = values;
    this.#log = log;
    this.#later = later;
  }

  /** Reads what an earlier process wrote. Rejects when the database does. */
  async load(): Promise<void> {
    const text = (await this.#values.get(KIND, [ID])).get(ID);
    if (text === undefined) return;
    const stored = Stored.parse(JSON.parse(text));
    this.#isNew = stored.newest === undefined;
    this.#position = stored.session;
    this.#newest = laterOf(this.#newest, stored.newest);
    for (const [channelId, messageId] of Object.entries(stored.channels))
      this.#advance(channelId, messageId);
  }

  /** Whether no earlier process has served this account. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** The first connect: later messages of any of these channels are fetched if they are missed. */
  async begin(known: readonly string[]): Promise<void> {
    this.#newest = known.reduce((a, b) => (isLater(a, b) ? a : b), this.#newest ?? '0');
    await this.flush();
  }

  cursors(): Cursors {
    return { newest: this.#storedUpTo(), channels: new Map(this.#channels) };
  }

  /** A message has arrived: until `note` or `drop`, the stored position stays before it. */
  track(messageId: string, before = this.#position): void {
    this.#inProgress.set(messageId, before);
  }

  /** Position of the session; at first that of an earlier process. */
  get position(): Position | undefined {
    return this.#position;
  }

  /**
   * Moves the session's position; written once no earlier message is in progress. A new session is written
   * at once: without it the next process could not ask for direct messages that this one leaves behind.
   */
  moveTo(position: Position | undefined): void {
    const isKnown = position === undefined || position.session === this.#position?.session;
    this.#position = position;
    if (!isKnown) void this.flush();
    else this.#cancelWrite ??= this.#later(() => void this.flush(), WRITE_MS);
  }

  /** A message will not be stored. */
  drop(messageId: string): void {
    this.#inProgress.delete(messageId);
  }

  /** A message was stored. `served` ones make their channel known; others only move its position. */
  async note(channelId: string, messageId: string, served: boolean): Promise<void> {
    const isKnown = this.#channels.has(channelId);
    this.#inProgress.delete(messageId);
    this.#newest = laterOf(this.#newest, messageId);
    if (isKnown || served) this.#advance(channelId, messageId);
    if (served && !isKnown) await this.flush();
    else this.#cancelWrite ??= this.#later(() => void this.flush(), WRITE_MS);
  }

  /** The channel is gone or no longer readable. */
  forget(channelId: string): void {
    this.#channels.delete(channelId);
  }

  /** Writes the positions, one write at a time: of two at once the older might win. */
  flush(): Promise<void> {
    this.#cancelWrite?.();
    this.#cancelWrite = undefined;
    this.#lastWrite = this.#lastWrite.then(() => this.#write());
    return this.#lastWrite;
  }

  async #write(): Promise<void> {
    const value = JSON.stringify({
      newest: this.#storedUpTo(),
      channels: Object.fromEntries(this.#channels),
      session: [...this.#inProgress.values()].find(Boolean) ?? this.#position,
    });
    try {
      await this.#values.set([{ kind: KIND, id: ID, value }]);
    } catch (thrown) {
      this.#log.warn({ reason: reasonOf(thrown) }, 'the last positions cannot be stored');
      this.#cancelWrite ??= this.#later(() => void this.flush(), WRITE_MS);
    }
  }

  /** Channels run in parallel, so the newest message is not always the last to be stored. */
  #storedUpTo(): string | undefined {
    if (this.#newest === undefined) return undefined;
    const oldest = [...this.#inProgress.keys()].reduce(
      (a, b) => (isLater(a, b) ? b : a),
      this.#newest,
    );
    return oldest === this.#newest ? oldest : String(BigInt(oldest) - 1n);
  }

  #advance(channelId: string, messageId: string): void {
    const last = laterOf(this.#channels.get(channelId), messageId) ?? messageId;
    this.#channels.set(channelId, last);
  }
}

function laterOf(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return isLater(a, b) ? a : b;
}

/** Compares two snowflakes. */
export function isLater(a: string, b: string): boolean {
  return BigInt(a) > BigInt(b);
}

/** A frame of the gateway; op 0 is an event, `t` its name and `s` its sequence number. */
const Frame = z.object({
  op: z.int(),
  t: z.string().nullish(),
  s: z.int().nullish(),
  d: z.unknown(),
});
const Ready = z.object({
  session_id: z.string(),
  resume_gateway_url: z.string(),
  user: z.object({ id: Snowflake }),
});

/** The close code of Discord's own libraries that keeps the session resumable. */
const RESUMING = 4200;
const [EVENT, HEARTBEAT, RESUME, RECONNECT, INVALID_SESSION, HELLO, HEARTBEAT_ACK] = [
  0, 1, 6, 7, 9, 10, 11,
];

/** Position of a session after an event; undefined until its READY was received. */
export function positionAfter(
  event: { readonly t: string; readonly s: number; readonly d: unknown },
  before: Position | undefined,
): Position | undefined {
  if (event.t !== 'READY') return before && { ...before, seq: event.s };
  const ready = Ready.safeParse(event.d);
  if (!ready.success) return undefined;
  const { session_id: session, resume_gateway_url: url, user } = ready.data;
  return { session, url, me: user.id, seq: event.s };
}

/** A resumed session of an earlier process. */
export interface Resumed {
  /** Resolves when all missed events are received, or the session is refused or gone. */
  readonly caughtUp: Promise<void>;
  /**
   * Resolves when all that Discord sent before this call is received: a heartbeat is acknowledged after
   * it. Two connections have no common order, so the new session may start before the last events of this
   * one arrive.
   */
  drained(): Promise<void>;
  /** Whether Discord still sends to it. */
  isOpen(): boolean;
  close(): void;
}

/**
 * Resumes the session of an earlier process beside the new one of discord.js, whose caches need READY.
 * Only the earlier session delivers the first message of a new direct chat. Its events go to `onEvent`,
 * with the position before each.
 */
export function resumeSession(
  { token, from }: { readonly token: string; readonly from: Position },
  onEvent: (name: string, data: unknown, before: Position) => void,
): Resumed {
  const { promise: caughtUp, resolve: catchUp } = Promise.withResolvers<void>();
  const { promise: acknowledged, resolve: acknowledge } = Promise.withResolvers<void>();
  const end = (): void => {
    catchUp();
    acknowledge();
  };
  const socket = new WebSocket(`${from.url.replace(/\/$/, '')}/?v=10&encoding=json`);
  const close = (): void => {
    socket.close(RESUMING);
    end();
  };
  let position = from;
  const receive = (text: unknown): void => {
    const { op, t, s, d } = Frame.parse(JSON.parse(String(text)));
    if (op === HELLO) {
      const resume = { token, session_id: from.session, seq: from.seq };
      socket.send(JSON.stringify({ op: RESUME, d: resume }));
    } else if (op === RECONNECT || op === INVALID_SESSION) close();
    else if (op === HEARTBEAT_ACK) acknowledge();
    else if (op === EVENT && t === 'RESUMED') catchUp();
    else if (op === EVENT && t != null && s != null) {
      onEvent(t, d, position);
      position = { ...position, seq: s };
    }
  };
  socket.onmessage = guarded('resume', ({ data }: MessageEvent) => receive(data));
  socket.onerror = close;
  socket.onclose = () => end();
  const isOpen = () => socket.readyState === WebSocket.OPEN;
  const drained = async (): Promise<void> => {
    await caughtUp;
    if (!isOpen()) return;
    socket.send(JSON.stringify({ op: HEARTBEAT, d: position.seq }));
    await acknowledged;
  };
  return { caughtUp, drained, isOpen, close };
}
