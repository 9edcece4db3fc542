import { blocksToMrkdwn } from './blocks.ts';
import { readSlackContent } from './content.ts';
import { emitMessage } from './events.ts';
import { findThread, getBotFields, getReplyFields, omitMetadata } from './posting.ts';
import { convertMarkdown } from './read-markdown.ts';
import { createRefusal, type RequestArguments } from './request.ts';
import type { SlackServers } from './servers.ts';
import { type Json, toRecords } from './wire.ts';
import {
  type Channel,
  findWritableChannel,
  type StoredMessage,
  storeMessage,
  toThreadKey,
  type Workspace,
} from './workspace.ts';

/** The maximum length of the text in one call, in characters. */
const MAX_APPENDED = 12_000;

/** Implements `chat.startStream`: posts a message in a thread, to which text can be appended. */
export function startStream(servers: SlackServers, args: RequestArguments): Json {
  const { workspace } = servers;
  const channel = findWritableChannel(workspace, args.required('channel'));
  const thread = findThread(channel, args.required('thread_ts'));
  if (channel.kind !== 'dm') {
    if (!args.has('recipient_team_id')) throw createRefusal('missing_recipient_team_id');
    if (!args.has('recipient_user_id')) throw createRefusal('missing_recipient_user_id');
  }
  workspace.limits.passMessage(channel.id);
  const ts = workspace.ids.ts();
  const wire = {
    ...getBotFields(workspace),
    ts,
    text: '',
    blocks: [],
    ...getReplyFields(channel, thread),
  };
  const stored = storeMessage(workspace, channel, wire, { isGrowing: true });
  appendToMessage(servers, stored, args);
  return { channel: channel.id, ts };
}

/** `chat.appendStream` */
export function appendStream(servers: SlackServers, args: RequestArguments): Json {
  const { channel, stored } = findStream(servers.workspace, args);
  appendToMessage(servers, stored, args);
  return { channel: channel.id, ts: stored.wire.ts };
}

/** Implements `chat.stopStream`, which may add blocks at the end. */
export function stopStream(servers: SlackServers, args: RequestArguments): Json {
  const { workspace } = servers;
  const { channel, stored } = findStream(workspace, args);
  appendToMessage(servers, stored, args);
  const { blocks } = args.has('blocks') ? readSlackContent(workspace, args) : { blocks: [] };
  stored.wire = { ...stored.wire, blocks: [...(stored.wire.blocks ?? []), ...blocks] };
  stored.isGrowing = false;
  const thread = stored.wire.thread_ts;
  if (thread !== undefined) workspace.statuses.delete(toThreadKey(channel.id, thread));
  workspace.transcript.changes.changed();
  emitMessage(servers, channel, stored.wire);
  return { channel: channel.id, ts: stored.wire.ts, message: omitMetadata(stored.wire) };
}

function findStream(workspace: Workspace, args: RequestArguments) {
  const channel: Channel = findWritableChannel(workspace, args.required('channel'));
  const stored = channel.messages.get(args.required('ts'));
  if (stored === undefined) throw createRefusal('message_not_found');
  if (stored.wire.user !== workspace.bot.id) throw createRefusal('message_not_owned_by_app');
  if (stored.isGrowing !== true) throw createRefusal('message_not_in_streaming_state');
  return { channel, stored };
}

/** Appends Markdown from `markdown_text` or chunks and converts the whole text again. */
function appendToMessage(
  { workspace }: SlackServers,
  stored: StoredMessage,
  args: RequestArguments,
): void {
  const chunks = toRecords(args.json('chunks', 'invalid_chunks'));
  const more = [args.text('markdown_text'), ...chunks.map(({ text }) => text)]
    .filter((text) => typeof text === 'string')
    .join('');
  if (more.length > MAX_APPENDED) throw createRefusal('msg_too_long');
  stored.markdown = (stored.markdown ?? '') + more;
  const blocks = convertMarkdown(stored.markdown).map((block) => {
    return { ...block, block_id: workspace.ids.next('b') };
  });
  stored.wire = { ...stored.wire, text: blocksToMrkdwn(blocks), blocks };
  workspace.transcript.changes.changed();
}
