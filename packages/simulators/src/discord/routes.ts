import { z } from 'zod';
import { COMMAND_ROUTES } from './commands.ts';
import { describeChannel, describeGuild, describeMember } from './descriptions.ts';
import { INTERACTION_ROUTES } from './interaction-routes.ts';
import { parseMessageForm } from './message-form.ts';
import { MESSAGE_ROUTES, sendAsBot } from './message-routes.ts';
import { getReactors, openThread, parseEmoji, setReaction } from './messages.ts';
import { hasBotPermission, INTENT, requireChannel } from './permissions.ts';
import {
  createInvalidFormRefusal,
  createMissingAccessRefusal,
  createMissingPermissionsRefusal,
  createNotFoundRefusal,
  Refusal,
  RestCall,
} from './request.ts';
import type { RouteContext, RouteHandler, RouteHandlers } from './scene.ts';
import type { Json } from './wire.ts';
import { CHANNEL_TYPE, type Guild, type World } from './world.ts';

export interface RouteMatch {
  readonly route: string;
  readonly handler: RouteHandler;
  readonly params: ReadonlyMap<string, string>;
}

/** Returns the first matching route, so exact paths must precede paths with parameters. */
export function matchRoute(method: string, path: string): RouteMatch | undefined {
  const parts = `${method} ${path}`.split('/');
  for (const [route, handler] of Object.entries(ROUTES)) {
    const params = matchParameters(route.split('/'), parts);
    if (params !== undefined) return { route, handler, params };
  }
  return undefined;
}

function matchParameters(
  pattern: readonly string[],
  parts: readonly string[],
): Map<string, string> | undefined {
  if (pattern.length !== parts.length) return undefined;
  const params = new Map<string, string>();
  for (const [index, name] of pattern.entries()) {
    const part = parts[index] ?? '';
    if (name.startsWith(':')) params.set(name.slice(1), part);
    else if (name !== part) return undefined;
  }
  return params;
}

/** Routes for the bot, its application, its guilds and their members. */
const ACCOUNT_ROUTES: RouteHandlers = {
  'GET /gateway': ({ gateway }) => ({ url: gateway.url }),
  'GET /gateway/bot': ({ gateway }) => gateway.describe(),
  'GET /users/@me': ({ world }) => ({ ...world.bot, verified: true, mfa_enabled: false, flags: 0 }),
  'GET /users/:user': ({ world }, call) => {
    const user = world.users.get(call.param('user'));
    if (user === undefined) throw createNotFoundRefusal('User');
    return user;
  },
  'GET /applications/@me': (scene) => describeApplication(scene),
  'GET /oauth2/applications/@me': (scene) => describeApplication(scene),
  'GET /users/@me/guilds': ({ world }) =>
    [...world.guilds.values()]
      .filter(({ left }) => !left)
      .map(({ id, name, permissions }) => ({ id, name, permissions: String(permissions) })),
  'DELETE /users/@me/guilds/:guild': ({ world }, call) => {
    const guild = requireGuild(world, call.param('guild'));
    guild.left = true;
    world.emit('GUILD_DELETE', { id: guild.id }, guild.id);
  },
  'GET /guilds/:guild': ({ world }, call) =>
    describeGuild(world, requireGuild(world, call.param('guild'))),
  'GET /guilds/:guild/channels': ({ world }, call) => {
    const guild = requireGuild(world, call.param('guild'));
    return [...world.channels.values()]
      .filter(({ guildId, type }) => guildId === guild.id && type !== CHANNEL_TYPE.thread)
      .map((channel) => describeChannel(world, channel));
  },
  'GET /guilds/:guild/threads/active': ({ world }, call) => {
    const guild = requireGuild(world, call.param('guild'));
    const threads = [...world.channels.values()]
      .filter(({ guildId, type }) => guildId === guild.id && type === CHANNEL_TYPE.thread)
      .filter(({ archived }) => !archived)
      .map((channel) => describeChannel(world, channel));
    return { threads, members: [], has_more: false };
  },
  'GET /guilds/:guild/members/:user': ({ world }, call) => {
    const guild = requireGuild(world, call.param('guild'));
    const user = call.param('user') === '@me' ? world.bot.id : call.param('user');
    if (!guild.members.has(user)) throw createNotFoundRefusal('User');
    return { ...describeMember(guild, user), user: world.user(user) };
  },
};

function requireGuild(world: World, id: string): Guild {
  const guild = world.guilds.get(id);
  if (guild === undefined) throw createNotFoundRefusal('Guild');
  if (guild.left) throw createMissingAccessRefusal();
  return guild;
}

/**
 * The application flag for an enabled Message Content Intent, used for apps in up to 100 servers.
 */
const CONTENT_LIMITED = 1 << 19;

function describeApplication({ world, gateway }: RouteContext): Json {
  const { id, username } = world.bot;
  return {
    id,
    name: username,
    description: '',
    icon: null,
    bot_public: true,
    bot_require_code_grant: false,
    verify_key: '0'.repeat(64),
    owner: world.user('190000000000000001'),
    team: null,
    flags: (gateway.portalIntents & INTENT.content) === 0 ? 0 : CONTENT_LIMITED,
    bot: world.bot,
    redirect_uris: [],
    tags: [],
  };
}

const Name = z.string().min(1).max(100);
const ThreadForm = z.looseObject({
  name: Name,
  message: z.record(z.string(), z.unknown()).optional(),
});
const ChannelForm = z.looseObject({
  name: Name.optional(),
  archived: z.boolean().optional(),
  locked: z.boolean().optional(),
});
const DmForm = z.looseObject({ recipient_id: z.string() });

/** Routes for channels, threads and direct messages. */
const CHANNEL_ROUTES: RouteHandlers = {
  'GET /channels/:channel': ({ world }, call) =>
    describeChannel(world, requireChannel(world, call.param('channel'))),
  'PATCH /channels/:channel': changeChannel,
  'POST /channels/:channel/threads': startThread,
  'POST /channels/:channel/messages/:message/threads': ({ world }, call) => {
    const parent = requireChannel(world, call.param('channel'), 'openThread');
    const from = world.message(parent, call.param('message'));
    if (world.channels.has(from.id))
      throw new Refusal(400, 160004, 'A thread has already been created for this message');
    const { name } = call.read(ThreadForm);
    return describeChannel(world, openThread(world, parent, { name, ownerId: world.bot.id, from }));
  },
  'PUT /channels/:channel/thread-members/@me': ({ world }, call) => {
    requireChannel(world, call.param('channel'));
  },
  'DELETE /channels/:channel/thread-members/@me': ({ world }, call) => {
    requireChannel(world, call.param('channel'));
  },
  'POST /users/@me/channels': ({ world }, call) => {
    const { recipient_id } = call.read(DmForm);
    if (!world.users.has(recipient_id) || recipient_id === world.bot.id)
      throw createInvalidFormRefusal(
        'recipient_id',
        'CHANNEL_RECIPIENT_REQUIRED',
        'Invalid Recipient(s)',
      );
    return describeChannel(world, world.dmWith(recipient_id));
  },
};

async function startThread({ world }: RouteContext, call: RestCall): Promise<Json> {
  const parent = requireChannel(world, call.param('channel'));
  const { name, message } = call.read(ThreadForm);
  const isForum = parent.type === CHANNEL_TYPE.forum;
  if (!hasBotPermission(world, parent, isForum ? 'send' : 'openThread'))
    throw createMissingPermissionsRefusal();
  if (parent.type === CHANNEL_TYPE.thread || parent.type === CHANNEL_TYPE.dm)
    throw new Refusal(400, 50024, 'Cannot execute action on this channel type');
  if (!isForum)
    return describeChannel(world, openThread(world, parent, { name, ownerId: world.bot.id }));
  if (message === undefined)
    throw createInvalidFormRefusal('message', 'BASE_TYPE_REQUIRED', 'This field is required');
  const first = new RestCall(call.params, call.query, { body: message, files: call.files });
  const form = parseMessageForm(first);
  const post = openThread(world, parent, { name, ownerId: world.bot.id });
  const sent = await sendAsBot(world, post, first, form, post.id);
  return { ...describeChannel(world, post), message: sent };
}

function changeChannel({ world }: RouteContext, call: RestCall): Json {
  const channel = requireChannel(world, call.param('channel'));
  const { name, archived, locked } = call.read(ChannelForm);
  const own = channel.ownerId === world.bot.id && locked === undefined;
  if (!own && !hasBotPermission(world, channel, 'manageThreads'))
    throw createMissingPermissionsRefusal();
  channel.name = name ?? channel.name;
  channel.archived = archived ?? channel.archived;
  channel.locked = locked ?? channel.locked;
  const data = describeChannel(world, channel);
  const isThread = channel.type === CHANNEL_TYPE.thread;
  world.emit(isThread ? 'THREAD_UPDATE' : 'CHANNEL_UPDATE', data, channel.guildId);
  return data;
}

/** Routes for message reactions. */
const REACTION_ROUTES: RouteHandlers = {
  'PUT /channels/:channel/messages/:message/reactions/:emoji/@me': (scene, call) =>
    handleReactionChange(scene, call, false),
  'DELETE /channels/:channel/messages/:message/reactions/:emoji/@me': (scene, call) =>
    handleReactionChange(scene, call, true),
  'DELETE /channels/:channel/messages/:message/reactions/:emoji/:user': (scene, call) => {
    const channel = requireChannel(scene.world, call.param('channel'));
    if (!hasBotPermission(scene.world, channel, 'manageMessages'))
      throw createMissingPermissionsRefusal();
    handleReactionChange(scene, call, true, call.param('user'));
  },
  'GET /channels/:channel/messages/:message/reactions/:emoji': ({ world }, call) => {
    const channel = requireChannel(world, call.param('channel'));
    const { id } = world.message(channel, call.param('message'));
    return [...getReactors(world, id, requireEmoji(call))].map((user) => world.user(user));
  },
};

function handleReactionChange(
  { world }: RouteContext,
  call: RestCall,
  gone: boolean,
  userId = world.bot.id,
): void {
  const channel = requireChannel(world, call.param('channel'), gone ? 'view' : 'react');
  const message = world.message(channel, call.param('message'));
  const emoji = requireEmoji(call);
  if (channel.archived) throw new Refusal(400, 50083, 'Thread is archived');
  setReaction(world, channel, message, { userId, emoji, gone });
}

function requireEmoji(call: RestCall): NonNullable<ReturnType<typeof parseEmoji>> {
  const emoji = parseEmoji(call.param('emoji'));
  if (emoji === undefined) throw new Refusal(400, 10014, 'Unknown Emoji');
  return emoji;
}

/** All routes of the double; exact paths precede paths with parameters. */
const ROUTES: RouteHandlers = {
  ...ACCOUNT_ROUTES,
  ...REACTION_ROUTES,
  ...MESSAGE_ROUTES,
  ...CHANNEL_ROUTES,
  ...COMMAND_ROUTES,
  ...INTERACTION_ROUTES,
};
