import { deleteMessage, getPermalink, postEphemeral, postMessage, updateMessage } from './chat.ts';
import {
  getConversation,
  getHistory,
  getReplies,
  joinConversation,
  listConversations,
  listMembers,
  openConversation,
} from './conversations.ts';
import { completeUpload, createUpload, getFile } from './files.ts';
import { getBot, getUser, listUsers, testAuth } from './members.ts';
import { findThread } from './posting.ts';
import { addReaction, removeReaction } from './reactions.ts';
import type { RequestArguments } from './request.ts';
import type { SlackServers } from './servers.ts';
import { appendStream, startStream, stopStream } from './streams.ts';
import { openView, publishView, updateView } from './views.ts';
import type { Json } from './wire.ts';
import { findWritableChannel, toThreadKey } from './workspace.ts';

type ApiMethod = (servers: SlackServers, args: RequestArguments) => Json;

/** The methods of the Web API that need a bot token; each returns the fields of its response. */
export const METHODS: Readonly<Record<string, ApiMethod>> = {
  'api.test': () => ({}),
  'auth.test': testAuth,
  'assistant.threads.setStatus': setStatus,
  'assistant.threads.setTitle': requireThread,
  'assistant.threads.setSuggestedPrompts': () => ({}),
  'bots.info': getBot,
  'chat.appendStream': appendStream,
  'chat.delete': deleteMessage,
  'chat.getPermalink': getPermalink,
  'chat.postEphemeral': postEphemeral,
  'chat.postMessage': postMessage,
  'chat.startStream': startStream,
  'chat.stopStream': stopStream,
  'chat.update': updateMessage,
  'conversations.history': getHistory,
  'conversations.info': getConversation,
  'conversations.join': joinConversation,
  'conversations.list': listConversations,
  'conversations.members': listMembers,
  'conversations.open': openConversation,
  'conversations.replies': getReplies,
  'files.completeUploadExternal': completeUpload,
  'files.getUploadURLExternal': createUpload,
  'files.info': getFile,
  'reactions.add': addReaction,
  'reactions.remove': removeReaction,
  'users.info': getUser,
  'users.list': listUsers,
  'views.open': openView,
  'views.publish': publishView,
  'views.push': openView,
  'views.update': updateView,
};

/**
 * Implements `assistant.threads.setStatus`: the status is shown below a thread until the bot posts
 * a message there.
 */
function setStatus({ workspace }: SlackServers, args: RequestArguments): Json {
  const channel = findWritableChannel(workspace, args.required('channel_id'));
  const thread = findThread(channel, args.required('thread_ts')) ?? '';
  const status = args.text('status') ?? '';
  if (status === '') workspace.statuses.delete(toThreadKey(channel.id, thread));
  else workspace.statuses.set(toThreadKey(channel.id, thread), status);
  workspace.transcript.changes.changed();
  return {};
}

function requireThread({ workspace }: SlackServers, args: RequestArguments): Json {
  findThread(
    findWritableChannel(workspace, args.required('channel_id')),
    args.required('thread_ts'),
  );
  return {};
}
