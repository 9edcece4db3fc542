import { toTextBlocks } from './blocks.ts';
import { emitEvent, emitMessage, emitMessageChanged } from './events.ts';
import type { SentFile } from './file-store.ts';
import { addPersonFile } from './files.ts';
import { getReplyFields, removeMessage } from './posting.ts';
import { setReaction } from './reactions.ts';
import type { SlackServers } from './servers.ts';
import { escapeTypedText, normalizeText } from './text.ts';
import type { Json, WireMessage } from './wire.ts';
import {
  type Channel,
  type Member,
  type StoredMessage,
  storeMessage,
  type Workspace,
} from './workspace.ts';

export interface PersonMessage {
  readonly channel: string;
  /**
   * The author; by default, the other person in a direct chat, or the first member of any other
   * conversation.
   */
  readonly from?: string | undefined;
  /** The text as typed; `<@U1>` mentions a member, and mrkdwn formatting is applied. */
  readonly text?: string | undefined;
  /** The `ts` of the thread's first message, for a reply. */
  readonly threadTs?: string | undefined;
  readonly files?: readonly SentFile[] | undefined;
  /** Further fields of the message, for example `subtype`. */
  readonly extra?: Json | undefined;
}

/** Posts a message as a member and sends the bot an event. */
export function sendPersonMessage(servers: SlackServers, saying: PersonMessage): WireMessage {
  const { workspace } = servers;
  const channel = getChannel(workspace, saying.channel);
  const author = findAuthor(workspace, channel, saying.from);
  const text = normalizeText(escapeTypedText(saying.text ?? ''));
  const files = (saying.files ?? []).map((file) => addPersonFile(workspace, author.id, file));
  const { threadTs } = saying;
  if (threadTs !== undefined && !channel.messages.has(threadTs))
    throw new Error(`There is no message ${threadTs} in ${channel.id} to reply to.`);
  const message: WireMessage = {
    ...{ type: 'message', ts: workspace.ids.ts(), user: author.id, text },
    ...getAuthorFields(workspace, author),
    ...(text !== '' && { blocks: toTextBlocks(text, () => workspace.ids.next('b')) }),
    ...(files.length > 0 && { subtype: 'file_share', files, upload: false }),
    ...getReplyFields(channel, threadTs),
    ...saying.extra,
  };
  storeMessage(workspace, channel, message);
  emitMessage(servers, channel, message);
  return message;
}

/**
 * Messages of bots have a `bot_id`, and messages of people from other workspaces have their team.
 */
function getAuthorFields({ team, ids }: Workspace, { id, name, teamId, isBot }: Member): Json {
  const home = teamId === team.id ? {} : { user_team: teamId, source_team: teamId };
  if (!isBot) return { team: team.id, client_msg_id: ids.next('m'), ...home };
  const profile = { id: `B${id.slice(1)}`, app_id: `A${id.slice(1)}`, name, deleted: false };
  return {
    team: team.id,
    bot_id: profile.id,
    app_id: profile.app_id,
    bot_profile: profile,
    ...home,
  };
}

export function editAsAuthor(
  servers: SlackServers,
  channelId: string,
  ts: string,
  text: string,
): void {
  const { workspace } = servers;
  const channel = getChannel(workspace, channelId);
  const stored = getMessage(channel, ts);
  const before = stored.wire;
  const by = before.user ?? '';
  const written = normalizeText(escapeTypedText(text));
  stored.wire = {
    ...before,
    text: written,
    blocks: toTextBlocks(written, () => workspace.ids.next('b')),
    edited: { user: by, ts: workspace.ids.ts() },
  };
  stored.edits += 1;
  workspace.transcript.changes.changed();
  emitMessageChanged(servers, channel, { message: stored.wire, before, by });
}

export function deleteAsAuthor(servers: SlackServers, channelId: string, ts: string): void {
  const channel = getChannel(servers.workspace, channelId);
  const stored = getMessage(channel, ts);
  removeMessage(servers, channel, stored, stored.wire.user ?? '');
}

/** A reaction that a person adds or removes. */
export interface PersonReaction {
  readonly channel: string;
  readonly ts: string;
  /** The name of the emoji, such as `thumbsup`. */
  readonly name: string;
  readonly from?: string | undefined;
  readonly gone?: boolean | undefined;
}

/** Adds or removes a reaction as a person. */
export function reactAsPerson(
  servers: SlackServers,
  { channel: id, ts, name, from, gone }: PersonReaction,
): void {
  const { workspace } = servers;
  const channel = getChannel(workspace, id);
  const stored = getMessage(channel, ts);
  const user = findAuthor(workspace, channel, from).id;
  setReaction(servers, channel, stored, { user, name, isAdded: gone !== true });
}

/** Adds the bot to a conversation or removes it, and sends the bot an event. */
export function setBotMembership(servers: SlackServers, channelId: string, isIn: boolean): void {
  const { bot, ids, team, members } = servers.workspace;
  const channel = getChannel(servers.workspace, channelId);
  const actor = [...channel.members].find((id) => id !== bot.id && members.has(id)) ?? '';
  const common = { channel: channel.id, event_ts: ids.ts() };
  if (isIn) {
    channel.members.add(bot.id);
    const joined = { user: bot.id, channel_type: channel.id.slice(0, 1), team: team.id };
    emitEvent(
      servers,
      { type: 'member_joined_channel', ...joined, inviter: actor, ...common },
      { channel },
    );
    return;
  }
  channel.members.delete(bot.id);
  const type = channel.kind === 'public' ? 'channel_left' : 'group_left';
  emitEvent(servers, { type, actor_id: actor, ...common }, { channel });
}

/** Removes the app from the workspace and invalidates its tokens. */
export function uninstallApp(servers: SlackServers): void {
  const { app, bot } = servers.workspace;
  app.isUninstalled = true;
  emitEvent(servers, { type: 'tokens_revoked', tokens: { oauth: [], bot: [bot.id] } });
  emitEvent(servers, { type: 'app_uninstalled' });
}

/** @throws Error with a readable reason when the conversation does not exist */
export function getChannel({ channels }: Workspace, id: string): Channel {
  const channel = channels.get(id);
  if (channel === undefined) throw new Error(`There is no conversation ${id}.`);
  return channel;
}

/** @throws Error with a readable reason when the message does not exist */
export function getMessage(channel: Channel, ts: string): StoredMessage {
  const stored = channel.messages.get(ts) ?? channel.ephemeral.get(ts);
  if (stored === undefined) throw new Error(`There is no message ${ts} in ${channel.id}.`);
  return stored;
}

/** Returns the acting member and adds the member to the conversation if necessary. */
export function findAuthor(
  workspace: Workspace,
  channel: Channel,
  from: string | undefined,
): Member {
  const { bot, members } = workspace;
  const id = from ?? [...channel.members].find((one) => one !== bot.id);
  if (id === undefined) throw new Error(`${channel.id} has no members. Name the author in "from".`);
  const member = members.get(id);
  if (member === undefined) throw new Error(`There is no member ${id}.`);
  channel.members.add(id);
  return member;
}
