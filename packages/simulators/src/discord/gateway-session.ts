import type { WebSocket } from 'ws';
import { z } from 'zod';
import {
  filterByIntents,
  getRequiredIntent,
  INTENT,
  isValidIntents,
  PRIVILEGED,
} from './permissions.ts';
import type { Json } from './wire.ts';
import type { WorldEvent } from './world.ts';

/** The gateway functions that a connection calls. */
export interface GatewayHost {
  readonly token: string;
  /** Bits of the privileged intents enabled in the portal. */
  readonly portalIntents: number;
  readonly heartbeatMs: number;
  readonly clock: () => number;
  /** Returns the data of a frame as it is sent to the client. */
  asSent(frame: GatewayFrame): unknown;
  begin(identity: BotIdentity, connection: GatewayConnection): void;
  find(sessionId: string): GatewaySession | undefined;
  /** Answers a RESUME, either immediately or once pending RESUMEs are released. */
  answerResume(answer: () => void): void;
  /** The close code for this RESUME, if the gateway refuses it. */
  refusedResume(): number | undefined;
  forget(session: GatewaySession): void;
  members(request: unknown, connection: GatewayConnection): void;
}

export interface GatewayFrame {
  readonly op: number;
  readonly d: unknown;
  readonly s: number | null;
  readonly t: string | null;
}

/** The properties that a bot sent in IDENTIFY. */
export interface BotIdentity {
  readonly intents: number;
  /** The index of this shard and the total number of shards. */
  readonly shard: readonly [number, number];
}

const Incoming = z.looseObject({ op: z.number(), d: z.unknown() });
const Identify = z.looseObject({
  token: z.string(),
  intents: z.number(),
  shard: z.tuple([z.number(), z.number()]).optional(),
});
const Resume = z.looseObject({ token: z.string(), session_id: z.string(), seq: z.number() });

type CloseReason = readonly [code: number, reason: string];

const ENDING = {
  undecodable: [4002, 'Error while decoding payload.'],
  wrongToken: [4004, 'Authentication failed.'],
  tooMany: [4008, 'Rate limited.'],
} as const satisfies Record<string, CloseReason>;

/** Discord allows 120 events per minute. */
const EVENT_LIMIT = { count: 120, windowMs: 60_000 };

export class GatewayConnection {
  readonly #socket: WebSocket;
  readonly #host: GatewayHost;
  session: GatewaySession | undefined;
  /** From now on nothing reaches the bot, as on a dead network path. */
  silent = false;
  /** The delay of each frame, in ms. */
  lagMs = 0;
  #arrivals: number[] = [];

  constructor(socket: WebSocket, host: GatewayHost) {
    this.#socket = socket;
    this.#host = host;
    socket.on('message', (data) => this.#receive(String(data)));
    socket.on('close', (code) => {
      const ended = this.session;
      this.detach();
      // A client that closes with 1000 or 1001 gives up its session.
      if (ended !== undefined && (code === 1000 || code === 1001)) host.forget(ended);
    });
    socket.on('error', () => socket.terminate());
    this.send({
      op: 10,
      d: { heartbeat_interval: host.heartbeatMs, _trace: [] },
      s: null,
      t: null,
    });
  }

  send(frame: GatewayFrame): void {
    if (this.silent) return;
    const text = JSON.stringify({ ...frame, d: this.#host.asSent(frame) });
    if (this.lagMs === 0) this.#socket.send(text);
    else setTimeout(() => this.#socket.send(text), this.lagMs);
  }

  signal(op: number, d: unknown = null): void {
    this.send({ op, d, s: null, t: null });
  }

  close(code: number, reason: string): void {
    this.detach();
    this.#socket.close(code, reason);
  }

  freeze(): void {
    this.silent = true;
    this.#socket.pause();
  }

  drop(): void {
    this.detach();
    this.#socket.terminate();
  }

  attach(session: GatewaySession): void {
    this.session = session;
    session.send = (frame) => this.send(frame);
  }

  detach(): void {
    if (this.session !== undefined) this.session.send = undefined;
    this.session = undefined;
  }

  #receive(text: string): void {
    const frame = Incoming.safeParse(parseJson(text));
    const ending = this.#tooMany()
      ? ENDING.tooMany
      : frame.success
        ? this.#obey(frame.data.op, frame.data.d)
        : ENDING.undecodable;
    if (ending !== undefined) this.close(...ending);
  }

  /** Returns the reason to close the connection, if there is one. */
  #obey(op: number, d: unknown): CloseReason | undefined {
    if (op === 2) return this.#identify(d);
    if (op === 6) {
      this.#host.answerResume(() => {
        const ending = this.#resume(d);
        if (ending !== undefined) this.close(...ending);
      });
      return undefined;
    }
    if (op === 1) {
      this.signal(11);
      return undefined;
    }
    // Of the ops 3 (presence), 4 (voice state), 8 (members) and 31 (sounds), only 8 gets a
    // response.
    if (![3, 4, 8, 31].includes(op)) return [4001, 'Unknown opcode.'];
    if (this.session === undefined) return [4003, 'Not authenticated.'];
    if (op === 8) this.#host.members(d, this);
    return undefined;
  }

  #identify(d: unknown): CloseReason | undefined {
    if (this.session !== undefined) return [4005, 'Already authenticated.'];
    const identify = Identify.safeParse(d);
    if (!identify.success) return ENDING.undecodable;
    const { token, intents, shard = [0, 1] } = identify.data;
    if (token !== this.#host.token) return ENDING.wrongToken;
    if (!isValidIntents(intents)) return [4013, 'Invalid intent(s).'];
    if ((intents & PRIVILEGED & ~this.#host.portalIntents) !== 0)
      return [4014, 'Disallowed intent(s).'];
    if (shard[0] < 0 || shard[0] >= shard[1]) return [4010, 'Invalid shard.'];
    this.#host.begin({ intents, shard }, this);
    return undefined;
  }

  #resume(d: unknown): CloseReason | undefined {
    const resume = Resume.safeParse(d);
    if (!resume.success) return ENDING.undecodable;
    if (resume.data.token !== this.#host.token) return ENDING.wrongToken;
    // The bot may have disconnected already.
    if (this.#socket.readyState !== this.#socket.OPEN) return undefined;
    const refused = this.#host.refusedResume();
    if (refused !== undefined) return [refused, ''];
    const session = this.#host.find(resume.data.session_id);
    if (session === undefined) {
      this.signal(9, false);
      return undefined;
    }
    const missed = session.after(resume.data.seq);
    if (missed === undefined) return [4007, 'Invalid seq.'];
    for (const frame of missed) this.send(frame);
    this.attach(session);
    session.push('RESUMED', { _trace: [] });
    return undefined;
  }

  #tooMany(): boolean {
    const now = this.#host.clock();
    this.#arrivals = this.#arrivals.filter((at) => at > now - EVENT_LIMIT.windowMs);
    this.#arrivals.push(now);
    return this.#arrivals.length > EVENT_LIMIT.count;
  }
}

/** The bot's intents, minus the privileged intents that were withdrawn after it identified. */
interface PortalSettings {
  readonly botId: string;
  isOff(intent: number): boolean;
}

/** The maximum number of events that RESUME can replay; RESUME fails after a longer gap. */
const REPLAY_LIMIT = 5000;

/** A session that outlives its connections: the numbered events of one shard. */
export class GatewaySession {
  readonly id: string;
  readonly identity: BotIdentity;
  readonly #portal: PortalSettings;
  readonly #frames: GatewayFrame[] = [];
  #seq = 0;
  /** Sends frames to the current connection; undefined between connections. */
  send: ((frame: GatewayFrame) => void) | undefined;

  constructor(id: string, identity: BotIdentity, portal: PortalSettings) {
    this.id = id;
    this.identity = identity;
    this.#portal = portal;
  }

  get seq(): number {
    return this.#seq;
  }

  /** Numbers an event and delivers it if the intents and the shard allow it. */
  dispatch(event: WorldEvent): void {
    const { intents } = this.identity;
    const needed = getRequiredIntent(event.name, event.guildId !== undefined);
    if ((needed !== 0 && (intents & needed) === 0) || !this.owns(event.guildId)) return;
    const { botId, isOff } = this.#portal;
    const left = isOff(INTENT.content) ? intents & ~INTENT.content : intents;
    this.push(event.name, filterByIntents(event, left, botId));
  }

  push(name: string, data: Json): void {
    this.#seq += 1;
    const frame = { op: 0, d: data, s: this.#seq, t: name };
    this.#frames.push(frame);
    if (this.#frames.length > REPLAY_LIMIT) this.#frames.shift();
    this.send?.(frame);
  }

  /** Returns the frames after a sequence number, or undefined when they have been discarded. */
  after(seq: number): GatewayFrame[] | undefined {
    const oldest = this.#seq - this.#frames.length;
    if (seq < oldest || seq > this.#seq) return undefined;
    return this.#frames.slice(seq - oldest);
  }

  /**
   * Whether events of a guild belong to this shard; events of direct messages belong to shard 0.
   */
  owns(guildId: string | undefined): boolean {
    const [number, of] = this.identity.shard;
    const owner = guildId === undefined ? 0 : Number((BigInt(guildId) >> 22n) % BigInt(of));
    return owner === number;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
