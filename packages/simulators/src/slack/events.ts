import type { SlackServers } from './servers.ts';
import type { Json, WireMessage } from './wire.ts';
import { applyOptionalFieldMode, type Channel, getChannelType } from './workspace.ts';

/**
 * Sends the bot an event in the envelope of the Events API. The id of an event stays the same when
 * the event is delivered again.
 */
export function emitEvent(
  { workspace, dispatcher }: SlackServers,
  event: Json & { readonly type: string },
  where: { readonly channel?: Channel; readonly isOwn?: boolean } = {},
): void {
  const { team, app, bot, ids, clock } = workspace;
  const { channel, isOwn } = where;
  const envelope = {
    token: app.verificationToken,
    team_id: team.id,
    context_team_id: team.id,
    context_enterprise_id: null,
    api_app_id: app.id,
    event,
    type: 'event_callback',
    event_id: ids.next('Ev'),
    event_time: Math.floor(clock() / 1_000),
    authorizations: [
      {
        enterprise_id: null,
        team_id: team.id,
        user_id: bot.id,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: channel?.sharedWith !== undefined,
    event_context: `4-${event.type}-${ids.next('E')}`,
  };
  dispatcher.deliver({
    ...{
      type: 'events_api',
      what: event.type,
      payload: applyOptionalFieldMode(workspace, envelope),
    },
    ...(isOwn !== undefined && { isOwn }),
  });
}

/**
 * Sends the bot a `message` event for a conversation that includes the bot, and also an
 * `app_mention` event when the message mentions the bot.
 */
export function emitMessage(servers: SlackServers, channel: Channel, message: WireMessage): void {
  const { bot } = servers.workspace;
  if (!channel.members.has(bot.id)) return;
  const isOwn = message.user === bot.id;
  const event = { ...message, channel: channel.id, event_ts: message.ts };
  emitEvent(servers, { ...event, channel_type: getChannelType(channel) }, { channel, isOwn });
  const isMention = message.text.includes(`<@${bot.id}>`) && !isOwn && channel.kind !== 'dm';
  if (!isMention) return;
  const { subtype: _subtype, ...mention } = event;
  emitEvent(servers, { ...mention, type: 'app_mention' }, { channel });
}

/** Sends the bot an event about an edit by the member `by`. */
export function emitMessageChanged(
  servers: SlackServers,
  channel: Channel,
  change: { readonly message: WireMessage; readonly before: WireMessage; readonly by: string },
): void {
  const { message, before, by } = change;
  emitHiddenMessage(servers, channel, by, {
    subtype: 'message_changed',
    message,
    previous_message: before,
  });
}

/** Sends the bot an event about a deletion by the member `by`. */
export function emitMessageDeleted(
  servers: SlackServers,
  channel: Channel,
  before: WireMessage,
  by: string,
): void {
  emitHiddenMessage(servers, channel, by, {
    subtype: 'message_deleted',
    deleted_ts: before.ts,
    previous_message: before,
  });
}

function emitHiddenMessage(
  servers: SlackServers,
  channel: Channel,
  by: string,
  fields: Json,
): void {
  const { bot, ids } = servers.workspace;
  if (!channel.members.has(bot.id)) return;
  const ts = ids.ts();
  const event = {
    ...{ type: 'message', hidden: true, channel: channel.id, ts, event_ts: ts, ...fields },
    channel_type: getChannelType(channel),
  };
  emitEvent(servers, event, { channel, isOwn: by === bot.id });
}

/** Sends the bot an event about a reaction in a conversation that includes the bot. */
export function emitReaction(
  servers: SlackServers,
  channel: Channel,
  change: {
    readonly type: 'reaction_added' | 'reaction_removed';
    readonly user: string;
    readonly reaction: string;
    readonly message: WireMessage;
  },
): void {
  const { bot, ids } = servers.workspace;
  if (!channel.members.has(bot.id)) return;
  const { type, user, reaction, message } = change;
  const event = {
    ...{ type, user, reaction, item_user: message.user, event_ts: ids.ts() },
    item: { type: 'message', channel: channel.id, ts: message.ts },
  };
  emitEvent(servers, event, { channel, isOwn: user === bot.id });
}
