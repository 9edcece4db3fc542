import { createServer, type Server } from 'node:http';
import { listenOnLoopback, stopServer } from '../loopback.ts';
import { describeChannel } from './descriptions.ts';
import type { DiscordDouble, DiscordDoubleOptions } from './discord-double.ts';
import { applyGatewayFault, isGatewayFault, RestFaults } from './faults.ts';
import { serveFile } from './files.ts';
import { Gateway } from './gateway.ts';
import { pressComponent, runSlashCommand, submitForm } from './interacting.ts';
import { InteractionStore } from './interactions.ts';
import { listVisibleMessages, toVisibleMessage } from './messages.ts';
import {
  deleteAsAuthor,
  editAsAuthor,
  reactAsPerson,
  sendPersonMessage,
  startThread,
  startTyping,
} from './people.ts';
import { PRIVILEGED } from './permissions.ts';
import { RateLimiter, WIDE_LIMITS } from './rate-limits.ts';
import { RestServer } from './rest-server.ts';
import { Transcript } from './transcript.ts';
import { CHANNEL_TYPE, PERMISSION, World } from './world.ts';

const BOT_ID = '190000000000000009';
const PICTURE = 'a_picture';
const TOKEN = `${Buffer.from(BOT_ID).toString('base64')}.double.for-tests-and-trying-out`;

/**
 * Starts a local Discord server for one bot: REST and gateway over plain HTTP, the limits and
 * refusals of the real servers, and injectable faults. `/control/…` exposes the methods of the
 * double over HTTP.
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
  const interactions = new InteractionStore(clock);
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
  const port = await listenOnLoopback(server, options.port ?? 0);
  world.fileBase = `http://127.0.0.1:${port}`;
  gateway.url = `ws://127.0.0.1:${port}/gateway`;
  const double = createDoubleHandle({ world, gateway, interactions, faults, server });
  return double;
}

interface DoubleInternals {
  readonly world: World;
  readonly gateway: Gateway;
  readonly interactions: InteractionStore;
  readonly faults: RestFaults;
  readonly server: Server;
}

function createDoubleHandle(parts: DoubleInternals): DiscordDouble {
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
    ...createWorldControls(world),
    ...createPersonControls(world, parts.interactions),
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
    conversation: (channelId) => listVisibleMessages(world, channelId),
    sends: (after) => world.transcript.sends(after),
    calls: (start) => world.transcript.calls(start),
    fault: (fault) => {
      if (isGatewayFault(fault)) applyGatewayFault(world, gateway, fault);
      else faults.arm(fault);
    },
    clearFaults: () => faults.clear(),
    waitFor: (look, timeoutMs = 30_000) => world.transcript.changes.waitFor(look, timeoutMs),
    close: () => {
      gateway.close();
      return stopServer(server);
    },
  };
}

function createWorldControls(
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

type PersonControlName =
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

function createPersonControls(
  world: World,
  interactions: InteractionStore,
): Pick<DiscordDouble, PersonControlName> {
  return {
    slash: (use) => runSlashCommand(world, interactions, use),
    press: (use) => pressComponent(world, interactions, use),
    submit: (use) => submitForm(world, interactions, use),
    interaction: (id) => {
      const known = interactions.get(id);
      if (known === undefined) throw new Error(`No interaction ${id}`);
      const ephemeral = [...known.ephemeral.values()].map((message) =>
        toVisibleMessage(world, message),
      );
      return { answered: known.answered, ephemeral, modal: known.modal };
    },
    say: (saying) => sendPersonMessage(world, saying),
    reword: (channel, message, text) => {
      editAsAuthor(world, channel, message, text);
    },
    erase: (channel, message) => deleteAsAuthor(world, channel, message),
    react: (reacting) => reactAsPerson(world, reacting),
    type: (channel, from) => startTyping(world, channel, from),
    thread: (start) => startThread(world, start).id,
  };
}
