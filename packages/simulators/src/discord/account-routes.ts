import { describeChannel, describeGuild, describeMember } from './descriptions.ts';
import { INTENT } from './intents.ts';
import { missingAccess, unknown } from './refusal.ts';
import type { Routes, Scene } from './route-table.ts';
import type { Json } from './wire.ts';
import { CHANNEL_TYPE, type Guild, type World } from './world.ts';

/** The bot itself, its application, its guilds and their members. */
export const ACCOUNT_ROUTES: Routes = {
  'GET /gateway': ({ gateway }) => ({ url: gateway.url }),
  'GET /gateway/bot': ({ gateway }) => gateway.describe(),
  'GET /users/@me': ({ world }) => ({ ...world.bot, verified: true, mfa_enabled: false, flags: 0 }),
  'GET /users/:user': ({ world }, call) => {
    const user = world.users.get(call.param('user'));
    if (user === undefined) throw unknown('User');
    return user;
  },
  'GET /applications/@me': (scene) => describeApplication(scene),
  'GET /oauth2/applications/@me': (scene) => describeApplication(scene),
  'GET /users/@me/guilds': ({ world }) =>
    [...world.guilds.values()]
      .filter(({ left }) => !left)
      .map(({ id, name, permissions }) => ({ id, name, permissions: String(permissions) })),
  'DELETE /users/@me/guilds/:guild': ({ world }, call) => {
    const guild = guildFor(world, call.param('guild'));
    guild.left = true;
    world.emit('GUILD_DELETE', { id: guild.id }, guild.id);
  },
  'GET /guilds/:guild': ({ world }, call) =>
    describeGuild(world, guildFor(world, call.param('guild'))),
  'GET /guilds/:guild/channels': ({ world }, call) => {
    const guild = guildFor(world, call.param('guild'));
    return [...world.channels.values()]
      .filter(({ guildId, type }) => guildId === guild.id && type !== CHANNEL_TYPE.thread)
      .map((channel) => describeChannel(world, channel));
  },
  'GET /guilds/:guild/threads/active': ({ world }, call) => {
    const guild = guildFor(world, call.param('guild'));
    const threads = [...world.channels.values()]
      .filter(({ guildId, type }) => guildId === guild.id && type === CHANNEL_TYPE.thread)
      .filter(({ archived }) => !archived)
      .map((channel) => describeChannel(world, channel));
    return { threads, members: [], has_more: false };
  },
  'GET /guilds/:guild/members/:user': ({ world }, call) => {
    const guild = guildFor(world, call.param('guild'));
    const user = call.param('user') === '@me' ? world.bot.id : call.param('user');
    if (!guild.members.has(user)) throw unknown('User');
    return { ...describeMember(guild, user), user: world.user(user) };
  },
};

function guildFor(world: World, id: string): Guild {
  const guild = world.guilds.get(id);
  if (guild === undefined) throw unknown('Guild');
  if (guild.left) throw missingAccess();
  return guild;
}

/** The flag of an application whose Message Content Intent is on in the portal, for up to 100 servers. */
const CONTENT_LIMITED = 1 << 19;

function describeApplication({ world, gateway }: Scene): Json {
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
