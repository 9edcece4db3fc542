import type { SlackMessageContent } from './content.ts';
import { emitMessage, emitMessageChanged, emitMessageDeleted } from './events.ts';
import { createRefusal } from './request.ts';
import type { SlackServers } from './servers.ts';
import type { Json, WireMessage } from './wire.ts';
import {
  type Channel,
  type StoredMessage,
  storeMessage,
  toThreadKey,
  type Workspace,
} from './workspace.ts';

/** Posts a message as the bot and, like Slack, notifies the bot of its own message. */
export function postAsBot(
  servers: SlackServers,
  channel: Channel,
  { text, blocks, attachments, metadata, hasOwnBlocks }: SlackMessageContent,
  more: Json = {},
): StoredMessage {
  const { workspace } = servers;
  const wire: WireMessage = {
    ...getBotFields(workspace),
    ...{ ts: workspace.ids.ts(), text, blocks },
    ...(attachments && { attachments }),
    ...(metadata && { metadata }),
    ...more,
  };
  if (wire.thread_ts !== undefined)
    workspace.statuses.delete(toThreadKey(channel.id, wire.thread_ts));
  const stored = storeMessage(workspace, channel, wire);
  stored.hasOwnBlocks = hasOwnBlocks;
  emitMessage(servers, channel, wire);
  return stored;
}

export function changeMessage(
  servers: SlackServers,
  channel: Channel,
  stored: StoredMessage,
  content: SlackMessageContent & { readonly keepsBlocks?: boolean },
): void {
  const { workspace } = servers;
  const before = stored.wire;
  const { text, blocks, attachments, metadata } = content;
  stored.wire = {
    ...before,
    text,
    ...(content.keepsBlocks !== true && { blocks }),
    ...(attachments && { attachments }),
    ...(metadata && { metadata }),
    edited: { user: workspace.bot.id, ts: workspace.ids.ts() },
  };
  stored.hasOwnBlocks = content.keepsBlocks === true || content.hasOwnBlocks;
  stored.edits += 1;
  workspace.transcript.changes.changed();
  if (stored.onlyFor !== undefined) return;
  emitMessageChanged(servers, channel, { message: stored.wire, before, by: workspace.bot.id });
}

export function removeMessage(
  servers: SlackServers,
  channel: Channel,
  { wire }: StoredMessage,
  by: string,
): void {
  channel.messages.delete(wire.ts);
  channel.ephemeral.delete(wire.ts);
  servers.workspace.transcript.changes.changed();
  emitMessageDeleted(servers, channel, wire, by);
}

/** The fields common to all of the bot's messages. */
export function getBotFields({ app, bot, team }: Workspace) {
  return {
    type: 'message',
    ...{ user: bot.id, team: team.id, bot_id: app.botId, app_id: app.id },
    bot_profile: {
      ...{ id: app.botId, app_id: app.id, user_id: bot.id, name: bot.name },
      ...{ deleted: false, team_id: team.id, updated: 0, icons: {} },
    },
  } as const;
}

/**
 * Returns the thread of a call; undefined when the call does not name a thread.
 * @throws Refusal when the thread's first message is missing or is itself a reply
 */
export function findThread(channel: Channel, ts: string | undefined): string | undefined {
  if (ts === undefined) return undefined;
  const parent = channel.messages.get(ts)?.wire;
  if (parent === undefined) throw createRefusal('thread_not_found');
  if (parent.thread_ts !== undefined && parent.thread_ts !== ts)
    throw createRefusal('cannot_reply_to_message');
  return ts;
}

export function getReplyFields(channel: Channel, thread: string | undefined): Json {
  if (thread === undefined) return {};
  const user = channel.messages.get(thread)?.wire.user;
  return { thread_ts: thread, ...(user !== undefined && { parent_user_id: user }) };
}

/** Removes the metadata, which responses contain only on request. */
export function omitMetadata({ metadata: _metadata, ...message }: WireMessage): Json {
  return message;
}
