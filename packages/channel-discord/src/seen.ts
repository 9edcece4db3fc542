import { type AdapterValues, BoundedMap, type Logger, reasonOf } from '@parley/contracts';
import { z } from 'zod';
import { Snowflake } from './wire.ts';

/** How far the messages of this account have been taken. */
export interface Cursors {
  /** The newest message before which all are taken; undefined before the first one ever. */
  readonly newest?: string | undefined;
  /** The newest message of each channel that is served. */
  readonly channels: ReadonlyMap<string, string>;
}

const Position = z.object({
  session: z.string(),
  /** Where it is resumed. */
  url: z.string(),
  /** The bot's own id. */
  me: Snowflake,
  /** Number of the last event. */
  seq: z.int(),
});
/** How far a session of the gateway has come: what follows, it brings again when it is resumed. */
export type Position = z.infer<typeof Position>;

const Stored = z.object({
  newest: Snowflake.optional(),
  channels: z.record(Snowflake, Snowflake),
  session: Position.optional().catch(undefined),
});
const KIND = 'seen';
const ID = 'all';
/** How far a channel has come is written this much later, in ms. */
const WRITE_MS = 5_000;
/** Channels remembered; the one that was silent longest is forgotten first. */
const MOST_CHANNELS = 1_000;

/**
 * Remembers the last message taken from each channel that is served, so that what came while the bot
 * was away can be fetched. A new channel is written at once; how far it has come may be a little old
 * after a crash, since what is fetched twice is recognised.
 */
export class Seen {
  readonly #values: Pick<AdapterValues, 'get' | 'set'>;
  readonly #log: Logger;
  readonly #later: (work: () => void, ms: number) => () => void;
  readonly #channels = new BoundedMap<string, string>(MOST_CHANNELS);
  /** Messages that are being taken, each with the position before it. */
  readonly #underWay = new Map<string, Position | undefined>();
  #newest: string | undefined;
  #isNew = true;
  #position: Position | undefined;
  #callOff: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    values: Pick<AdapterValues, 'get' | 'set'>,
    log: Logger,
    later: (work: () => void, ms: number) => () => void,
  ) {
    this.#values = values;
    this.#log = log;
    this.#later = later;
  }

  /** Reads what an earlier process has written. Rejects when the database does. */
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

  /** Whether no earlier process has begun to serve this account. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** The first connect: what is said from now on, in any of these channels, will have been missed. */
  async begin(known: readonly string[]): Promise<void> {
    this.#newest = known.reduce((a, b) => (isLater(a, b) ? a : b), this.#newest ?? '0');
    await this.flush();
  }

  cursors(): Cursors {
    return { newest: this.#allTakenTo(), channels: new Map(this.#channels) };
  }

  /** A message came and is to be taken: until it is, or `drop` is called, no newer one of another channel hides it. */
  await(messageId: string, before = this.#position): void {
    this.#underWay.set(messageId, before);
  }

  /** How far the session has come, which is the one of an earlier process at first. */
  get position(): Position | undefined {
    return this.#position;
  }

  /** The session has come further; written when no message on the way there is under way any more. */
  at(position: Position | undefined): void {
    this.#position = position;
    this.#callOff ??= this.#later(() => void this.flush(), WRITE_MS);
  }

  /** A message will not be taken. */
  drop(messageId: string): void {
    this.#underWay.delete(messageId);
  }

  /** A message was taken. `served` ones make their channel known; others only move it on. */
  async note(channelId: string, messageId: string, served: boolean): Promise<void> {
    const isKnown = this.#channels.has(channelId);
    this.#underWay.delete(messageId);
    this.#newest = laterOf(this.#newest, messageId);
    if (isKnown || served) this.#advance(channelId, messageId);
    if (served && !isKnown) await this.flush();
    else this.#callOff ??= this.#later(() => void this.flush(), WRITE_MS);
  }

  /** The channel is gone, or not to be read any more. */
  forget(channelId: string): void {
    this.#channels.delete(channelId);
  }

  /** Writes how far it has come, one after the other: of two at once the older might be written last. */
  flush(): Promise<void> {
    this.#callOff?.();
    this.#callOff = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const value = JSON.stringify({
      newest: this.#allTakenTo(),
      channels: Object.fromEntries(this.#channels),
      session: [...this.#underWay.values()].find(Boolean) ?? this.#position,
    });
    try {
      await this.#values.set([{ kind: KIND, id: ID, value }]);
    } catch (thrown) {
      this.#log.warn({ reason: reasonOf(thrown) }, 'last seen messages cannot be stored');
      this.#callOff ??= this.#later(() => void this.flush(), WRITE_MS);
    }
  }

  /** Messages of different channels are taken side by side, the newest not always last. */
  #allTakenTo(): string | undefined {
    if (this.#newest === undefined) return undefined;
    const oldest = [...this.#underWay.keys()].reduce(
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

/** Whether one of Discord's ids is younger than another. */
export function isLater(a: string, b: string): boolean {
  return BigInt(a) > BigInt(b);
}
