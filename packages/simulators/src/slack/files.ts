import { readSlackContent } from './content.ts';
import type { SentFile, StoredFile } from './file-store.ts';
import { findThread, getReplyFields, postAsBot } from './posting.ts';
import { createRefusal, RequestArguments } from './request.ts';
import type { SlackServers } from './servers.ts';
import { type Json, toRecords, type WireFile } from './wire.ts';
import { type Channel, findWritableChannel, type Workspace } from './workspace.ts';

export function addPersonFile(workspace: Workspace, user: string, sent: SentFile): WireFile {
  const { ids, clock } = workspace;
  const common = { id: ids.next('F'), user, created: Math.floor(clock() / 1_000) };
  return toWireFile(workspace, workspace.files.add({ ...common, ...sent, isComplete: true }));
}

/** Implements `files.getUploadURLExternal`: creates a file and the upload URL for its bytes. */
export function createUpload({ workspace }: SlackServers, args: RequestArguments): Json {
  const { ids, clock, bot } = workspace;
  const name = args.required('filename');
  if (args.number('length', 0) < 1) throw createRefusal('invalid_arguments');
  const file = workspace.files.add({
    ...{ id: ids.next('F'), name, user: bot.id, created: Math.floor(clock() / 1_000) },
    ...{ bytes: undefined, isComplete: false },
  });
  return { upload_url: `${workspace.origin}/upload/v1/${file.id}`, file_id: file.id };
}

/** @returns true if an upload with this id is pending */
export function receiveUpload(
  { files }: Workspace,
  id: string,
  bytes: Uint8Array<ArrayBuffer>,
): boolean {
  const file = files.get(id);
  if (file === undefined || file.isComplete) return false;
  file.bytes = bytes;
  return true;
}

/** Implements `files.completeUploadExternal`: posts the files as a message from the bot. */
export function completeUpload(servers: SlackServers, args: RequestArguments): Json {
  const { workspace } = servers;
  const wanted = toRecords(args.json('files'));
  if (wanted.length === 0) throw createRefusal('invalid_arguments');
  const files = wanted.map(({ id, title }) => {
    const file = workspace.files.get(String(id));
    if (file?.bytes === undefined || file.isComplete) throw createRefusal('file_not_found');
    if (typeof title === 'string' && title !== '') file.title = title;
    return file;
  });
  const places = [args.text('channel_id'), ...(args.text('channels') ?? '').split(',')].filter(
    Boolean,
  );
  const channels = [...new Set(places)].map((id) => findWritableChannel(workspace, id));
  const shares = channels.map((channel) => ({
    channel,
    reply: getReplyFields(channel, findThread(channel, args.text('thread_ts'))),
  }));
  const content = parseComment(workspace, args);
  for (const file of files) file.isComplete = true;
  for (const { channel, reply } of shares) {
    workspace.limits.passMessage(channel.id);
    const forms = files.map((file) => toWireFile(workspace, file));
    const more = { subtype: 'file_share', upload: true, files: forms, ...reply };
    const { wire } = postAsBot(servers, channel, content, more);
    for (const file of files) recordShare(file, channel, wire.ts);
  }
  return { files: files.map((file) => toWireFile(workspace, file)) };
}

function parseComment(workspace: Workspace, args: RequestArguments) {
  const comment = args.text('initial_comment');
  const nothing = { text: '', blocks: [], hasOwnBlocks: false, warnings: [] };
  if (comment !== undefined)
    return readSlackContent(workspace, new RequestArguments({ text: comment }));
  return args.has('blocks') ? readSlackContent(workspace, args) : nothing;
}

function recordShare({ shares }: StoredFile, { id }: Channel, ts: string): void {
  shares.set(id, [...(shares.get(id) ?? []), ts]);
}

/** `files.info` */
export function getFile({ workspace }: SlackServers, args: RequestArguments): Json {
  const file = workspace.files.get(args.required('file'));
  if (file?.isComplete !== true) throw createRefusal('file_not_found');
  const shares = Object.fromEntries(
    [...file.shares].map(([channel, all]) => [channel, all.map((ts) => ({ ts }))]),
  );
  return { file: { ...toWireFile(workspace, file), shares: { private: shares } } };
}

function toWireFile({ origin, team }: Workspace, file: StoredFile): WireFile {
  const { id, name, title, type, user, created, bytes, shares } = file;
  const path = `${team.id}-${id}`;
  const url = `${origin}/files-pri/${path}/${encodeURIComponent(name)}`;
  return {
    ...{
      id,
      name,
      title,
      mimetype: type,
      filetype: name.split('.').at(-1) ?? 'binary',
      user,
      created,
    },
    ...{ timestamp: created, size: bytes?.length ?? 0, mode: 'hosted', user_team: team.id },
    ...{ is_external: false, is_public: false, public_url_shared: false, file_access: 'visible' },
    ...{ pretty_type: type, editable: false, display_as_bot: false, username: '' },
    url_private: url,
    url_private_download: url.replace('/files-pri/', '/files-pri/download/'),
    getPermalink: `https://${team.domain}.slack.com/files/${user}/${id}/${encodeURIComponent(name)}`,
    channels: [...shares.keys()],
  };
}
