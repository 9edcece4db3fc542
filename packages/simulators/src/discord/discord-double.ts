import { createServer, type Server } from 'node:http';
import { end, listen } from '../loopback.ts';
import type { Optional } from '../optional-fields.ts';
import { describeChannel } from './descriptions.ts';
import { type Fault, isGatewayFault, RestFaults, strikeGateway } from './faults.ts';
import { serveFile } from './files.ts';
import { Gateway } from './gateway.ts';
import { type Press, press, type Slash, type Submit, slash, submit } from './interacting.ts';
import { Interactions } from './interactions.ts';
import {
  erase,
  type Reacting,
  reactAs,
  reword,
  type Saying,
  say,
  startThread,
  startTyping,
} from './people.ts';
import { PERMISSION, type PermissionName, PRIVILEGED } from './permissions.ts';
import { RateLimiter, type RateLimits, WIDE_LIMITS } from './rate-limits.ts';
import { RestServer } from './rest-server.ts';
import {
  conversationIn,
  type RecordedCall,
  type Sent,
  seen,
  Transcript,
  type VisibleMessage,
} from './transcript.ts';
import type { Json, WireMessage, WireUser } from './wire.ts';
import { CHANNEL_TYPE, World } from './world.ts';

/** How to start a double; everything has a default. */
export interface DiscordDoubleOptions {
  /** Loopback port; a free one when absent. */
  readonly port?: number;
  /** Limits of the REST interface; wide ones when absent, `REAL_LIMITS` for about the real ones. */
  readonly limits?: RateLimits;
  /** Privileged intents switched on in the portal, as bits; all when absent. */
  readonly portalIntents?: number;
  /** How what Discord calls optional is sent; with its values when absent. */
  readonly optional?: Optional;
  /** Milliseconds between heartbeats; 41,250 as on the servers when absent. */
  readonly heartbeatMs?: number;
  /** Session starts left; 1,000 when absent. */
  readonly sessionStarts?: number;
  /** The picture of the bot; it has none when absent. */
  readonly picture?: Uint8Array;
  /** Milliseconds since 1970; decides ids, dates and limits, not how long a fault waits. */
  readonly clock?: () => number;
}

/** A running double: the wire on `apiRoot`, and what tests do to it and see of it. */
export interface DiscordDouble {
  /** For `rest: { api }`; the client adds `/v10`. */
  readonly apiRoot: string;
  readonly token: string;
  readonly me: WireUser;
  /** A guild with one text channel that is there from the start. */
  readonly guildId: string;
  readonly channelId: string;
  /** The role in that guild that has the bot's name. */
  readonly botRoleId: string;
  /** The role in that guild of those who were promoted. */
  readonly moderatorRoleId: string;
  readonly transcript: Transcript;
  /** How often a bot identified and resumed, how many RESUMEs are held, and how many connections there are. */
  gateway(): {
    readonly identifies: number;
    readonly resumes: number;
    readonly waitingResumes: number;
    readonly connections: number;
  };
  /** `joined` false: the bot is no member, so only commands of people who have it on their account come from there. */
  addGuild(name: string, joined?: boolean): string;
  addChannel(guild: string, name: string, kind?: 'text' | 'voice' | 'forum' | 'category'): string;
  /** Direct messages of two people, or a group of more, without the bot; gives back the id of the channel. */
  openPrivate(people: readonly string[], name?: string): string;
  /** The direct messages with a person; the bot hears of them by the first message alone. */
  dmWith(user: string): string;
  /** What a person is called from now on; the bot learns it with their next message. */
  nameUser(user: string, name: string): void;
  /** Somebody writes. */
  say(saying: Saying): WireMessage;
  reword(channel: string, message: string, text: string): void;
  erase(channel: string, message: string): void;
  react(reacting: Reacting): void;
  type(channel: string, from: string): void;
  /** Opens a thread, or a post in a forum; gives back its id. */
  thread(start: Parameters<typeof startThread>[1]): string;
  /** Somebody uses a slash command; gives back the id of the interaction. */
  slash(use: Slash): string;
  /** Somebody presses a button; gives back the id of the interaction. */
  press(use: Press): string;
  /** Somebody fills in a form; gives back the id of the interaction that brings it. */
  submit(use: Submit): string;
  /** Whether it was answered, the answers that only the person sees, and the form that it was answered with. */
  interaction(id: string): {
    readonly answered: boolean;
    readonly ephemeral: VisibleMessage[];
    readonly modal?: Json | undefined;
  };
  /** Takes a permission of the bot away in a channel, or gives it back. */
  deny(channel: string, permission: PermissionName, denied?: boolean): void;
  /** Gives the bot a permission in a guild that it usually does not have. */
  grant(guild: string, permission: PermissionName): void;
  /** Switches privileged intents on and off in the portal, as bits; sessions that run lose the content. */
  portal(intents: number): void;
  /** A member of a guild becomes one of its moderators. */
  promote(guild: string, user: string): void;
  /** A person takes no direct messages from the bot any more, or takes them again. */
  closeDms(user: string, closed?: boolean): void;
  /** An event of any kind. */
  event(name: string, data: Json, guild?: string): void;
  /** What people see in a channel now, both ways, oldest first. */
  conversation(channel: string): VisibleMessage[];
  /** What the bot sent later than `after` (a `seq`), oldest first: route, pings and visible text. */
  sends(after?: number): Sent[];
  /** The bot's REST calls, or those that begin so, for example `POST /channels/`. */
  calls(start?: string): RecordedCall[];
  /** Something goes wrong: with the gateway at once, with REST at the next matching call. */
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Resolves with the first answer of `look` that is neither undefined nor false. */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}

const BOT_ID = '190000000000000009';
const PICTURE = 'a_picture';
const TOKEN = `${Buffer.from(BOT_ID).toString('base64')}.double.for-tests-and-trying-out`;

/**
 * Starts a Discord for one bot on loopback: REST and gateway over plain http, the limits and refusals of
 * the servers, and faults on request. `/control/…` does over http what the handle does.
 */
export async function startDiscordDouble(
  options: DiscordDoubleOptions = {},
): Promise<DiscordDouble> {
  const clock = options.clock ?? Date.now;
  const transcript = new Transcript(clock);
  const world = new World(clock, transcript, BOT_ID);
  world.optional = options.optional ?? 'present';
  const { picture } = options;
  if (picture !== undefined) world.bot.avatar = PICTURE;
  const gateway = new Gateway(world, {
    token: TOKEN,
    portalIntents: options.portalIntents ?? PRIVILEGED,
    heartbeatMs: options.heartbeatMs ?? 41_250,
    sessionStarts: options.sessionStarts ?? 1000,
  });
  const interactions = new Interactions(clock);
  const faults = new RestFaults();
  const limiter = new RateLimiter(options.limits ?? WIDE_LIMITS, clock);
  const rest = new RestServer({ world, gateway, interactions }, faults, limiter);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://double');
    const failed = (error: unknown) => response.writeHead(500).end(String(error));
    if (picture !== undefined && url.pathname === `/avatars/${BOT_ID}/${PICTURE}.png`)
      response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
    else if (url.pathname.startsWith('/attachments/')) serveFile(world, url, response);
    else if (url.pathname.startsWith('/control/')) {
      import('./control.ts')
        .then(({ handleControl }) => handleControl(double, request, response, url))
        .catch(failed);
    } else rest.handle(request, response, url).catch(failed);
  });
  server.on('upgrade', (request, socket, head) => gateway.upgrade(request, socket, head));
  const port = await listen(server, options.port ?? 0);
  world.fileBase = `http://127.0.0.1:${port}`;
  gateway.url = `ws://127.0.0.1:${port}/gateway`;
  const double = handleFor({ world, gateway, interactions, faults, server });
  return double;
}

interface Parts {
  readonly world: World;
  readonly gateway: Gateway;
  readonly interactions: Interactions;
  readonly faults: RestFaults;
  readonly server: Server;
}

function handleFor(parts: Parts): DiscordDouble {
  const { world, gateway, faults, server } = parts;
  const guild = world.addGuild('Test guild');
  const channel = world.addChannel({ type: CHANNEL_TYPE.text, name: 'general', guildId: guild.id });
  return {
    apiRoot: `${world.fileBase}/api`,
    token: TOKEN,
    me: world.bot,
    guildId: guild.id,
    channelId: channel.id,
    botRoleId: guild.botRoleId,
    moderatorRoleId: guild.moderatorRoleId,
    transcript: world.transcript,
    ...placesOf(world),
    ...peopleOf(world, parts.interactions),
    gateway: () => ({
      identifies: gateway.identifies,
      resumes: gateway.resumes,
      waitingResumes: gateway.waitingResumes,
      connections: gateway.connections.size,
    }),
    portal: (intents) => {
      gateway.portalIntents = intents;
    },
    event: (name, data, guildId) => world.emit(name, data, guildId),
    conversation: (channelId) => conversationIn(world, channelId),
    sends: (after) => world.transcript.sends(after),
    calls: (start) => world.transcript.calls(start),
    fault: (fault) => {
      if (isGatewayFault(fault)) strikeGateway(world, gateway, fault);
      else faults.arm(fault);
    },
    clearFaults: () => faults.clear(),
    waitFor: (look, timeoutMs = 30_000) => world.transcript.changes.waitFor(look, timeoutMs),
    close: () => {
      gateway.close();
      return end(server);
    },
  };
}

function placesOf(
  world: World,
): Pick<
  DiscordDouble,
  | 'addGuild'
  | 'addChannel'
  | 'openPrivate'
  | 'dmWith'
  | 'nameUser'
  | 'deny'
  | 'grant'
  | 'promote'
  | 'closeDms'
> {
  return {
    addGuild: (name, joined = true) => {
      const guild = world.addGuild(name);
      guild.left = !joined;
      return guild.id;
    },
    openPrivate: (people, name = '') => world.openPrivate(people, name).id,
    addChannel: (guildId, name, kind = 'text') => {
      const channel = world.addChannel({ type: CHANNEL_TYPE[kind], name, guildId });
      world.emit('CHANNEL_CREATE', describeChannel(world, channel), guildId);
      return channel.id;
    },
    dmWith: (user) => world.dmWith(user).id,
    nameUser: (user, name) =>
      void world.users.set(user, { ...world.user(user), global_name: name }),
    deny: (channelId, permission, denied = true) => {
      const channel = world.channel(channelId);
      const bit = PERMISSION[permission];
      channel.denied = denied ? channel.denied | bit : channel.denied & ~bit;
      world.emit('CHANNEL_UPDATE', describeChannel(world, channel), channel.guildId);
    },
    grant: (guildId, permission) => {
      const guild = world.guilds.get(guildId);
      if (guild === undefined) throw new Error(`No guild ${guildId}`);
      guild.permissions |= PERMISSION[permission];
    },
    promote: (guildId, user) => void world.guilds.get(guildId)?.moderators.add(user),
    closeDms: (user, closed = true) => {
      if (closed) world.closedToDms.add(user);
      else world.closedToDms.delete(user);
    },
  };
}

type ByPeople =
  | 'say'
  | 'reword'
  | 'erase'
  | 'react'
  | 'type'
  | 'thread'
  | 'slash'
  | 'press'
  | 'submit'
  | 'interaction';

function peopleOf(world: World, interactions: Interactions): Pick<DiscordDouble, ByPeople> {
  return {
    slash: (use) => slash(world, interactions, use),
    press: (use) => press(world, interactions, use),
    submit: (use) => submit(world, interactions, use),
    interaction: (id) => {
      const known = interactions.get(id);
      if (known === undefined) throw new Error(`No interaction ${id}`);
      const ephemeral = [...known.ephemeral.values()].map((message) => seen(world, message));
      return { answered: known.answered, ephemeral, modal: known.modal };
    },
    say: (saying) => say(world, saying),
    reword: (channel, message, text) => {
      reword(world, channel, message, text);
    },
    erase: (channel, message) => erase(world, channel, message),
    react: (reacting) => reactAs(world, reacting),
    type: (channel, from) => startTyping(world, channel, from),
    thread: (start) => startThread(world, start).id,
  };
}
