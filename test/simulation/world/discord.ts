import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { discord } from '@parley/channel-discord';
import { describeChannel } from '../../../packages/simulators/src/discord/descriptions.ts';
import {
  applyGatewayFault,
  type Fault,
  RestFaults,
} from '../../../packages/simulators/src/discord/faults.ts';
import { Gateway } from '../../../packages/simulators/src/discord/gateway.ts';
import { GatewayConnection } from '../../../packages/simulators/src/discord/gateway-session.ts';
import { InteractionStore } from '../../../packages/simulators/src/discord/interactions.ts';
import { sendPersonMessage } from '../../../packages/simulators/src/discord/people.ts';
import { PRIVILEGED } from '../../../packages/simulators/src/discord/permissions.ts';
import { RateLimiter, WIDE_LIMITS } from '../../../packages/simulators/src/discord/rate-limits.ts';
import { RestServer } from '../../../packages/simulators/src/discord/rest-server.ts';
import { Transcript } from '../../../packages/simulators/src/discord/transcript.ts';
import { CHANNEL_TYPE, World } from '../../../packages/simulators/src/discord/world.ts';
import type { RandomChance } from '../engine/chance.ts';
import type { SimulatedProcess, VirtualTime } from '../engine/virtual-time.ts';
import { findAnsweredQuestions } from '../said.ts';
import type { SceneAdditions } from '../scene.ts';
import type { Simulation } from '../simulation.ts';
import type { ServedRequest, ServedResponse } from './network.ts';
import { type ServerSideSocket, socketsNow } from './simulated-socket.ts';

/** The socket type used by the Discord double. */
type ServerSocket = ConstructorParameters<typeof GatewayConnection>[0];

const HOST = 'discord.simulation';
const BOT = '190000000000000009';
const TOKEN = `${Buffer.from(BOT).toString('base64').replaceAll('=', '')}.double.simulated`;
/** Shorter than Discord's 41 s, so that a dead connection is noticed within a run. */
const HEARTBEAT_MS = 6_000;
/** The interval of gateway faults while updates fail, in ms. */
const STRIKE_INTERVAL_MS = [300, 2_500] as const;

/** The Discord servers, with a listener for everything that happens outside the gateway. */
class ObservedWorld extends World {
  hear: (name: string, data: unknown) => void = () => {};

  override emit(...event: Parameters<World['emit']>): void {
    super.emit(...event);
    this.hear(event[0], event[1]);
  }
}

/** A request made by a process. */
export interface DiscordCall {
  readonly process: string;
  readonly method: string;
  readonly path: string;
  readonly at: number;
}

/**
 * Discord with one bot: the double of its servers, behind sockets and requests that stay in this
 * thread.
 */
export class SimulatedDiscord implements SceneAdditions {
  readonly channels = [discord];
  readonly settings: object;
  readonly hosts = { [HOST]: (request: ServedRequest) => this.#serve(request) };
  readonly world: ObservedWorld;
  readonly guildId: string;
  readonly gateway: Gateway;
  /** All requests, in the order in which they were made. */
  readonly calls: DiscordCall[] = [];
  /** Whether people have sent all their messages. */
  saysNoMore = false;
  readonly #simulation: Simulation;
  readonly #rest: RestServer;
  readonly #faults = new RestFaults();
  readonly #time: VirtualTime;
  readonly #chance: RandomChance;
  readonly #sockets = new Set<ServerSideSocket>();
  /** The questions that each bot message is known to answer. */
  readonly #named = new Map<string, ReadonlySet<string>>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    this.#time = simulation.time;
    this.#chance = simulation.chance('discord');
    const clock = () => simulation.databaseTime(this.#time.now);
    this.world = new ObservedWorld(clock, new Transcript(clock), BOT);
    this.world.fileBase = `http://${HOST}`;
    this.gateway = new Gateway(this.world, {
      token: TOKEN,
      portalIntents: PRIVILEGED,
      heartbeatMs: HEARTBEAT_MS,
      sessionStarts: 1_000,
    });
    this.gateway.url = `ws://${HOST}/gateway`;
    const { world, gateway } = this;
    const scene = { world, gateway, interactions: new InteractionStore(clock) };
    this.#rest = new RestServer(scene, this.#faults, new RateLimiter(WIDE_LIMITS, clock));
    this.guildId = world.addGuild('Friends').id;
    const access = { direct: 'open', groups: 'open' };
    this.settings = { discord: { token: TOKEN, apiRoot: `http://${HOST}/api`, access } };
    socketsNow.server = {
      time: this.#time,
      accept: (_, socket) => this.#accept(socket),
      asked: (method, url) => {
        const { process, now } = this.#time;
        const path = new URL(url).pathname;
        this.calls.push({ process: process?.name ?? 'world', method, path, at: now });
      },
    };
    world.hear = (name, data) => {
      if (name === 'MESSAGE_CREATE' || name === 'MESSAGE_UPDATE') this.#noteShown(simulation, data);
    };
    this.#time.as(undefined, () => this.#strikeLater(simulation));
  }

  /** A text channel in which people write. */
  addChannel(name: string): string {
    const { world, guildId } = this;
    const channel = world.addChannel({ type: CHANNEL_TYPE.text, name, guildId });
    world.emit('CHANNEL_CREATE', describeChannel(world, channel), guildId);
    return channel.id;
  }

  /** The direct-message channel with a person. */
  directWith(person: string): string {
    return this.world.dmWith(person).id;
  }

  /** Writes as a person; returns the id of the message. */
  say(channel: string, from: string, text: string): string {
    return sendPersonMessage(this.world, { channel, from, text }).id;
  }

  /** The mention of the bot in a message. */
  get mention(): string {
    return `<@${BOT}>`;
  }

  /** Whether people have sent all their messages, and all of them have been accepted. */
  isOver(): boolean {
    if (!this.saysNoMore) return false;
    const { messages } = this.#simulation.observer.tables;
    const taken = new Set([...messages.values()].map(({ message_id }) => message_id));
    return this.#simulation.questions.every(({ id }) => taken.has(id));
  }

  onEnd(process: SimulatedProcess): void {
    for (const socket of this.#sockets) if (socket.process === process) socket.lose();
  }

  #accept(socket: ServerSideSocket): boolean {
    if (socket.process?.alive === false) return false;
    this.#sockets.add(socket);
    socket.welcome();
    const connection = new GatewayConnection(socket as unknown as ServerSocket, this.gateway);
    this.gateway.connections.add(connection);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.gateway.connections.delete(connection);
    });
    return true;
  }

  /**
   * Records a finished bot message, because a streamed answer names its questions before its end.
   */
  #noteShown(simulation: Simulation, data: unknown): void {
    const { id, channel_id, content, author } = data as {
      readonly id: string;
      readonly channel_id: string;
      readonly content?: string;
      readonly author?: { readonly id: string };
    };
    if (author?.id !== BOT || content === undefined || !/This answers .*\./.test(content)) return;
    const named = this.#named.get(id) ?? new Set<string>();
    const added = findAnsweredQuestions(content).filter((question) => !named.has(question));
    if (named.size > 0 && added.length === 0) return;
    this.#named.set(id, named.union(new Set(added)));
    // Pieces of a streamed answer may arrive in another order, so its end names the missing
    // questions.
    const rest = named.size === 0 ? content : `This answers ${added.join(' and ')}.`;
    const part = named.size === 0 ? id : `${id}+${named.size}`;
    const place = { account: 'default', chat: channel_id };
    const shown = { ...place, id, text: rest, key: part, part, at: this.#time.now };
    simulation.note('discord', shown, true);
  }

  /** Repeatedly injects gateway faults while updates fail, and call faults while sends fail. */
  #strikeLater(simulation: Simulation): void {
    this.#time.plan(this.#chance.between(...STRIKE_INTERVAL_MS), () => {
      if (simulation.is('updates')) this.strike(this.#chance.one(GATEWAY_FAULTS));
      if (simulation.is('sends')) this.#faults.arm(this.#chance.one(REST_FAULTS));
      else this.#faults.clear();
      if (simulation.calmSince === Number.POSITIVE_INFINITY) this.#strikeLater(simulation);
    });
  }

  /** Injects several gateway faults in direct succession. */
  strike(faults: readonly Fault[]): void {
    for (const fault of faults)
      applyGatewayFault(this.world, this.gateway, fault as Parameters<typeof applyGatewayFault>[2]);
  }

  async #serve({ url, method, headers, body }: ServedRequest): Promise<ServedResponse> {
    const request = Object.assign(
      (async function* () {
        if (body !== '') yield Buffer.from(body);
      })(),
      { method, headers: Object.fromEntries(headers) },
    );
    const { promise, resolve, reject } = Promise.withResolvers<ServedResponse>();
    const broken = (): void => reject(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
    let answer = { status: 500, headers: {} };
    const response = Object.assign(new EventEmitter(), {
      destroyed: false,
      writeHead(status: number, given: Record<string, string | number>) {
        answer = {
          status,
          headers: Object.fromEntries(
            Object.entries(given).map(([name, value]) => [name, `${value}`]),
          ),
        };
        return response;
      },
      end(text = '') {
        resolve({ ...answer, pieces: text === '' ? [] : [{ afterMs: 1, text }] });
      },
      socket: { resetAndDestroy: broken, destroy: broken },
    });
    await this.#rest.handle(
      request as unknown as IncomingMessage,
      response as unknown as ServerResponse,
      url,
    );
    return promise;
  }
}

/** Faults of connections and sessions. */
const GATEWAY_FAULTS: readonly (readonly Fault[])[] = [
  [{ kind: 'drop' }],
  [{ kind: 'silence' }],
  [{ kind: 'freeze' }],
  [{ kind: 'reconnect' }],
  [{ kind: 'invalid-session', resumable: true }],
  [{ kind: 'invalid-session', resumable: false }],
  [{ kind: 'close', code: 4009 }],
  // The session is lost with the connection, so missed messages must be fetched.
  [{ kind: 'forget-sessions' }, { kind: 'drop' }],
  [{ kind: 'close-resumes', code: 4000, count: 2 }, { kind: 'drop' }],
  [{ kind: 'duplicate', events: 5 }],
];

/** Faults of REST calls. */
const REST_FAULTS: readonly Parameters<RestFaults['arm']>[0][] = [
  { kind: 'reset' },
  { kind: 'reset', after: true },
  { kind: 'hang-up' },
  { kind: 'hang-up', after: true },
  { kind: 'status', status: 500 },
  { kind: 'rate-limit', retryAfterMs: 1_500 },
  { kind: 'reset', call: 'GET /channels/' },
  { kind: 'status', status: 503, call: 'GET /channels/' },
];
