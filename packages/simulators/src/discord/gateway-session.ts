import { forIntents } from './hidden-content.ts';
import { INTENT, intentFor } from './intents.ts';
import type { Json } from './wire.ts';
import type { WorldEvent } from './world.ts';

/** One frame to the bot. */
export interface Frame {
  readonly op: number;
  readonly d: unknown;
  readonly s: number | null;
  readonly t: string | null;
}

/** What a bot asked for when it identified. */
export interface Identity {
  readonly intents: number;
  /** Number of this shard and of all. */
  readonly shard: readonly [number, number];
}

/** The bot, and which privileged intents it has no more since it identified. */
interface Portal {
  readonly botId: string;
  isOff(intent: number): boolean;
}

/** How many events a session can catch up on; a longer gap makes RESUME fail. */
const REPLAY_LIMIT = 5000;

/** What outlives a connection: the numbered events of one shard. */
export class GatewaySession {
  readonly id: string;
  readonly identity: Identity;
  readonly #portal: Portal;
  readonly #frames: Frame[] = [];
  #seq = 0;
  /** Where frames go now; undefined between two connections. */
  send: ((frame: Frame) => void) | undefined;

  constructor(id: string, identity: Identity, portal: Portal) {
    this.id = id;
    this.identity = identity;
    this.#portal = portal;
  }

  get seq(): number {
    return this.#seq;
  }

  /** Numbers an event and delivers it, if the intents and the shard say so. */
  dispatch(event: WorldEvent): void {
    const { intents } = this.identity;
    const needed = intentFor(event.name, event.guildId !== undefined);
    if ((needed !== 0 && (intents & needed) === 0) || !this.owns(event.guildId)) return;
    const { botId, isOff } = this.#portal;
    const left = isOff(INTENT.content) ? intents & ~INTENT.content : intents;
    this.push(event.name, forIntents(event, left, botId));
  }

  push(name: string, data: Json): void {
    this.#seq += 1;
    const frame = { op: 0, d: data, s: this.#seq, t: name };
    this.#frames.push(frame);
    if (this.#frames.length > REPLAY_LIMIT) this.#frames.shift();
    this.send?.(frame);
  }

  /** What came after a number, or undefined when that is not known any more. */
  after(seq: number): Frame[] | undefined {
    const oldest = this.#seq - this.#frames.length;
    if (seq < oldest || seq > this.#seq) return undefined;
    return this.#frames.slice(seq - oldest);
  }

  /** Whether events of a guild go to this shard; those of direct messages go to the first. */
  owns(guildId: string | undefined): boolean {
    const [number, of] = this.identity.shard;
    const owner = guildId === undefined ? 0 : Number((BigInt(guildId) >> 22n) % BigInt(of));
    return owner === number;
  }
}
