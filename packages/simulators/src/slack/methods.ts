import { deleteMessage, permalink, postEphemeral, postMessage, update } from './chat.ts';
import { history, info, join, list, members, open, replies } from './conversations.ts';
import { completeUpload, fileInfo, uploadUrl } from './files.ts';
import { authTest, botInfo, userInfo, userList } from './members.ts';
import { findThread } from './posting.ts';
import { addReaction, removeReaction } from './reactions.ts';
import type { RequestArguments } from './request.ts';
import type { Servers } from './servers.ts';
import { appendStream, startStream, stopStream } from './streams.ts';
import { openView, publishView, updateView } from './views.ts';
import type { Json } from './wire.ts';
import { findWritable, threadKey } from './workspace.ts';

type Method = (servers: Servers, args: RequestArguments) => Json;

/** The methods of the Web API that need a bot token; each returns the fields of its response. */
export const METHODS: Readonly<Record<string, Method>> = {
  'api.test': () => ({}),
  'auth.test': authTest,
  'assistant.threads.setStatus': setStatus,
  'assistant.threads.setTitle': atThread,
  'assistant.threads.setSuggestedPrompts': () => ({}),
  'bots.info': botInfo,
  'chat.appendStream': appendStream,
  'chat.delete': deleteMessage,
  'chat.getPermalink': permalink,
  'chat.postEphemeral': postEphemeral,
  'chat.postMessage': postMessage,
  'chat.startStream': startStream,
  'chat.stopStream': stopStream,
  'chat.update': update,
  'conversations.history': history,
  'conversations.info': info,
  'conversations.join': join,
  'conversations.list': list,
  'conversations.members': members,
  'conversations.open': open,
  'conversations.replies': replies,
  'files.completeUploadExternal': completeUpload,
  'files.getUploadURLExternal': uploadUrl,
  'files.info': fileInfo,
  'reactions.add': addReaction,
  'reactions.remove': removeReaction,
  'users.info': userInfo,
  'users.list': userList,
  'views.open': openView,
  'views.publish': publishView,
  'views.push': openView,
  'views.update': updateView,
};

/** `assistant.threads.setStatus`: shown below a thread until the bot writes there. */
function setStatus({ workspace }: Servers, args: RequestArguments): Json {
  const channel = findWritable(workspace, args.required('channel_id'));
  const thread = findThread(channel, args.required('thread_ts')) ?? '';
  const status = args.text('status') ?? '';
  if (status === '') workspace.statuses.delete(threadKey(channel.id, thread));
  else workspace.statuses.set(threadKey(channel.id, thread), status);
  workspace.transcript.changes.changed();
  return {};
}

function atThread({ workspace }: Servers, args: RequestArguments): Json {
  findThread(findWritable(workspace, args.required('channel_id')), args.required('thread_ts'));
  return {};
}
