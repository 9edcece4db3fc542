import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { z } from 'zod';
import { describeGuild, describeMember } from './descriptions.ts';
import {
  type BotIdentity,
  GatewayConnection,
  type GatewayFrame,
  type GatewayHost,
  GatewaySession,
} from './gateway-session.ts';
import { INTENT, PRIVILEGED } from './permissions.ts';
import type { Json } from './wire.ts';
import type { World, WorldEvent } from './world.ts';

interface GatewayOptions {
  readonly token: string;
  readonly portalIntents: number;
  readonly heartbeatMs: number;
  readonly sessionStarts: number;
}

const MembersRequest = z.looseObject({
  guild_id: z.string(),
  user_ids: z.union([z.string(), z.array(z.string())]).optional(),
  nonce: z.string().optional(),
});

/** The gateway: its connections, its sessions, and the events sent to them. */
export class Gateway implements GatewayHost {
  readonly token: string;
  portalIntents: number;
  readonly heartbeatMs: number;
  readonly clock: () => number;
  readonly connections = new Set<GatewayConnection>();
  readonly #world: World;
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #sessions = new Map<string, GatewaySession>();
  readonly #totalStarts: number;
  identifies = 0;
  resumes = 0;
  /** The address of the gateway, set once the server listens. */
  url = '';
  #duplicates = 0;
  #swaps = 0;
  #held: WorldEvent | undefined;
  /** Pending RESUMEs; undefined while RESUMEs are answered immediately. */
  #heldResumes: (() => void)[] | undefined;
  #closingResumes = { code: 0, count: 0 };

  constructor(world: World, options: GatewayOptions) {
    this.#world = world;
    this.clock = world.clock;
    this.token = options.token;
    this.portalIntents = options.portalIntents;
    this.heartbeatMs = options.heartbeatMs;
    this.#totalStarts = options.sessionStarts;
    world.onEvent((event) => this.#deliver(event));
  }

  asSent({ d, t }: GatewayFrame): unknown {
    return this.#world.asSent(d, t);
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = new GatewayConnection(webSocket, this);
      this.connections.add(connection);
      webSocket.on('close', () => this.connections.delete(connection));
    });
  }

  describe(): Json {
    return {
      url: this.url,
      shards: 1,
      session_start_limit: {
        total: 1000,
        remaining: Math.max(0, this.#totalStarts - this.identifies),
        reset_after: 14_400_000,
        max_concurrency: 1,
      },
    };
  }

  begin(identity: BotIdentity, connection: GatewayConnection): void {
    this.identifies += 1;
    const id = `session-${this.#world.ids.next()}`;
    const session = new GatewaySession(id, identity, {
      botId: this.#world.bot.id,
      isOff: (intent) => (PRIVILEGED & ~this.portalIntents & intent) !== 0,
    });
    this.#sessions.set(id, session);
    connection.attach(session);
    const guilds = [...this.#world.guilds.values()].filter(
      ({ id: guildId, left }) => !left && session.owns(guildId),
    );
    session.push('READY', {
      v: 10,
      user: this.#world.bot,
      guilds: guilds.map((guild) => ({ id: guild.id, unavailable: true })),
      session_id: id,
      resume_gateway_url: this.url,
      shard: identity.shard,
      application: { id: this.#world.bot.id, flags: 0 },
      private_channels: [],
    });
    for (const guild of guilds) {
      if (!guild.available || (identity.intents & INTENT.guilds) === 0) continue;
      session.dispatch({
        name: 'GUILD_CREATE',
        data: describeGuild(this.#world, guild),
        guildId: guild.id,
      });
    }
    this.#world.transcript.changes.changed();
  }

  find(sessionId: string): GatewaySession | undefined {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) this.resumes += 1;
    this.#world.transcript.changes.changed();
    return session;
  }

  answerResume(answer: () => void): void {
    if (this.#heldResumes === undefined) answer();
    else this.#heldResumes.push(answer);
    this.#world.transcript.changes.changed();
  }

  refusedResume(): number | undefined {
    if (this.#closingResumes.count === 0) return undefined;
    this.#closingResumes.count -= 1;
    return this.#closingResumes.code;
  }

  /** Leaves RESUMEs unanswered until they are released. */
  holdResumes(): void {
    this.#heldResumes ??= [];
  }

  releaseResumes(): void {
    const held = this.#heldResumes ?? [];
    this.#heldResumes = undefined;
    for (const answer of held) answer();
  }

  /** Closes the connection with a code at each of the next `count` RESUMEs. */
  closeResumes(code: number, count: number): void {
    this.#closingResumes = { code, count };
  }

  /** The number of unanswered RESUMEs. */
  get waitingResumes(): number {
    return this.#heldResumes?.length ?? 0;
  }

  forget(session: GatewaySession): void {
    this.#sessions.delete(session.id);
  }

  /** Makes every existing session impossible to resume. */
  forgetAll(): void {
    this.#sessions.clear();
  }

  members(request: unknown, connection: GatewayConnection): void {
    const { guild_id, user_ids, nonce } = MembersRequest.parse(request);
    const guild = this.#world.guilds.get(guild_id);
    if (guild === undefined) return;
    const wanted = user_ids === undefined ? undefined : new Set([user_ids].flat());
    const ids = [...guild.members.keys()].filter((id) => wanted?.has(id) ?? true);
    connection.session?.push('GUILD_MEMBERS_CHUNK', {
      guild_id,
      members: ids.map((id) => ({ ...describeMember(guild, id), user: this.#world.user(id) })),
      chunk_index: 0,
      chunk_count: 1,
      ...(nonce === undefined ? {} : { nonce }),
    });
  }

  /** Delivers the next `count` events twice. */
  duplicate(count: number): void {
    this.#duplicates += count;
  }

  /** Swaps the two events in each of the next `count` pairs. */
  swap(count: number): void {
    this.#swaps += count;
  }

  close(): void {
    for (const connection of this.connections) connection.drop();
    this.#server.close();
  }

  #deliver(event: WorldEvent): void {
    const guild = this.#world.guildOf(event);
    const aboutGuild = event.name === 'GUILD_CREATE' || event.name === 'GUILD_DELETE';
    if (!aboutGuild && (guild?.left === true || guild?.available === false)) return;
    if (this.#swaps > 0 && this.#held === undefined) {
      this.#swaps -= 1;
      this.#held = event;
      return;
    }
    this.#dispatch(event);
    if (this.#held !== undefined) this.#dispatch(this.#held);
    this.#held = undefined;
  }

  #dispatch(event: WorldEvent): void {
    const times = this.#duplicates > 0 ? 2 : 1;
    this.#duplicates = Math.max(0, this.#duplicates - 1);
    for (let time = 0; time < times; time += 1) {
      for (const session of this.#sessions.values()) session.dispatch(event);
    }
  }
}
