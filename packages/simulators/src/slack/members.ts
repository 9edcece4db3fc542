import { createRefusal, type RequestArguments } from './request.ts';
import type { SlackServers } from './servers.ts';
import type { Json } from './wire.ts';
import type { Member, Workspace } from './workspace.ts';

/** `auth.test` */
export function testAuth({ workspace }: SlackServers): Json {
  const { team, app, bot } = workspace;
  return {
    ...{ url: `https://${team.domain}.slack.com/`, team: team.name, user: bot.name },
    ...{ team_id: team.id, user_id: bot.id, bot_id: app.botId, is_enterprise_install: false },
  };
}

/** `users.info` */
export function getUser({ workspace }: SlackServers, args: RequestArguments): Json {
  const member = workspace.members.get(args.required('user'));
  if (member === undefined) throw createRefusal('user_not_found');
  return { user: toWireUser(workspace, member) };
}

/** `users.list` */
export function listUsers({ workspace }: SlackServers): Json {
  const members = [...workspace.members.values()];
  return {
    members: members.map((member) => toWireUser(workspace, member)),
    cache_ts: Math.floor(workspace.clock() / 1_000),
    response_metadata: { next_cursor: '' },
  };
}

/** `bots.info` */
export function getBot({ workspace }: SlackServers, args: RequestArguments): Json {
  const { app, bot } = workspace;
  if (args.required('bot') !== app.botId) throw createRefusal('bot_not_found');
  return {
    bot: {
      id: app.botId,
      deleted: false,
      name: bot.name,
      app_id: app.id,
      user_id: bot.id,
      icons: {},
    },
  };
}

/** Converts a member to its JSON form; people of another workspace are marked as strangers. */
function toWireUser({ team, app, bot }: Workspace, member: Member): Json {
  const { id, name, teamId, isBot, isGuest, isAdmin, isDeactivated } = member;
  const isStranger = teamId !== team.id;
  return {
    ...{ id, team_id: teamId, name: name.toLowerCase().replaceAll(/\W+/g, '.'), real_name: name },
    ...{ deleted: isDeactivated, is_bot: isBot, is_app_user: false, tz: 'Etc/UTC', tz_offset: 0 },
    ...{ is_admin: isAdmin, is_owner: false, is_restricted: isGuest, is_ultra_restricted: false },
    ...(isStranger && { is_stranger: true }),
    updated: 0,
    profile: {
      ...{ real_name: name, real_name_normalized: name, display_name: name, team: teamId },
      ...{
        display_name_normalized: name,
        status_text: '',
        status_emoji: '',
        avatar_hash: 'double',
      },
      ...(id === bot.id && { api_app_id: app.id, bot_id: app.botId }),
    },
  };
}
