import {
  readSlackContent,
  readUpdateContent,
  type SlackMessageContent,
  splitContent,
} from './content.ts';
import {
  changeMessage,
  findThread,
  getBotFields,
  getReplyFields,
  omitMetadata,
  postAsBot,
  removeMessage,
} from './posting.ts';
import { createRefusal, type RequestArguments } from './request.ts';
import type { SlackServers } from './servers.ts';
import type { Json } from './wire.ts';
import { findChannel, findWritableChannel, storeMessage } from './workspace.ts';

/** `chat.postMessage` */
export function postMessage(servers: SlackServers, args: RequestArguments): Json {
  const { workspace } = servers;
  const channel = findWritableChannel(workspace, args.required('channel'));
  const content = readSlackContent(workspace, args);
  const thread = findThread(channel, args.text('thread_ts'));
  workspace.limits.passMessage(channel.id);
  const isBroadcast = thread !== undefined && args.flag('reply_broadcast');
  const fields = {
    ...getReplyFields(channel, thread),
    ...(isBroadcast && { subtype: 'thread_broadcast' }),
  };
  const [first, ...others] = splitContent(workspace, content);
  const { wire } = postAsBot(servers, channel, first, fields);
  for (const other of others) postAsBot(servers, channel, other, fields);
  return { channel: channel.id, ts: wire.ts, message: omitMetadata(wire), ...toWarnings(content) };
}

/** `chat.postEphemeral` */
export function postEphemeral({ workspace }: SlackServers, args: RequestArguments): Json {
  const channel = findWritableChannel(workspace, args.required('channel'));
  const user = args.required('user');
  if (!channel.members.has(user)) throw createRefusal('user_not_in_channel');
  const { text, blocks } = readSlackContent(workspace, args);
  const ts = workspace.ids.ts();
  const thread = findThread(channel, args.text('thread_ts'));
  const reply = getReplyFields(channel, thread);
  storeMessage(
    workspace,
    channel,
    { ...getBotFields(workspace), ts, text, blocks, ...reply },
    { onlyFor: user },
  );
  return { message_ts: ts };
}

/** Implements `chat.update`; without `blocks` or `markdown_text`, a message keeps its blocks. */
export function updateMessage(servers: SlackServers, args: RequestArguments): Json {
  const { workspace } = servers;
  const channel = findWritableChannel(workspace, args.required('channel'));
  const stored = channel.messages.get(args.required('ts'));
  if (stored === undefined) throw createRefusal('message_not_found');
  if (stored.wire.user !== workspace.bot.id) throw createRefusal('cant_update_message');
  if (stored.isGrowing) throw createRefusal('streaming_state_conflict');
  const content = readUpdateContent(workspace, args);
  changeMessage(servers, channel, stored, {
    ...content,
    keepsBlocks: stored.hasOwnBlocks === true && !args.has('blocks') && !args.has('markdown_text'),
  });
  const { wire } = stored;
  return {
    ...{ channel: channel.id, ts: wire.ts, text: wire.text, message: omitMetadata(wire) },
    ...toWarnings(content),
  };
}

/** `chat.delete` */
export function deleteMessage(servers: SlackServers, args: RequestArguments): Json {
  const { workspace } = servers;
  const channel = findChannel(workspace, args.required('channel'));
  const stored = channel.messages.get(args.required('ts'));
  if (stored === undefined) throw createRefusal('message_not_found');
  if (stored.wire.user !== workspace.bot.id) throw createRefusal('cant_delete_message');
  removeMessage(servers, channel, stored, workspace.bot.id);
  return { channel: channel.id, ts: stored.wire.ts };
}

/** `chat.getPermalink` */
export function getPermalink({ workspace }: SlackServers, args: RequestArguments): Json {
  const channel = findChannel(workspace, args.required('channel'));
  const ts = args.required('message_ts');
  if (!channel.messages.has(ts)) throw createRefusal('message_not_found');
  const id = ts.replace('.', '');
  return {
    channel: channel.id,
    getPermalink: `https://${workspace.team.domain}.slack.com/archives/${channel.id}/p${id}`,
  };
}

/** Returns warnings in the two fields in which Slack reports them. */
function toWarnings({ warnings }: SlackMessageContent): Json {
  if (warnings.length === 0) return {};
  return { warning: warnings.join(','), response_metadata: { warnings } };
}
