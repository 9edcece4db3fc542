import { omitMetadata } from './posting.ts';
import { createRefusal, type RequestArguments } from './request.ts';
import type { SlackServers } from './servers.ts';
import type { Json } from './wire.ts';
import {
  addChannel,
  type Channel,
  findChannel,
  getThreadFields,
  openDirectChat,
  type StoredMessage,
  type Workspace,
} from './workspace.ts';

/**
 * Implements `conversations.history`: messages of the conversation, newest first, without replies.
 */
export function getHistory({ workspace }: SlackServers, args: RequestArguments): Json {
  const channel = findReadableChannel(workspace, args);
  const found = [...channel.messages.values()].filter(
    ({ wire }) => wire.thread_ts === undefined || wire.thread_ts === wire.ts || isBroadcast(wire),
  );
  const { page, ...rest } = paginateList(filterByTime(found, args).reverse(), args, 100);
  return {
    messages: page.map(({ wire }) => ({
      ...toVisibleMessage(wire, args),
      ...getThreadFields(channel, wire.ts),
    })),
    ...{ pin_count: 0, channel_actions_ts: null, channel_actions_count: 0 },
    ...rest,
  };
}

/**
 * Implements `conversations.replies`: the first message of a thread and its replies, oldest first.
 */
export function getReplies({ workspace }: SlackServers, args: RequestArguments): Json {
  const channel = findReadableChannel(workspace, args);
  const asked = args.required('ts');
  const ts = channel.messages.get(asked)?.wire.thread_ts ?? asked;
  const parent = channel.messages.get(ts);
  if (parent === undefined) throw createRefusal('thread_not_found');
  const answers = [...channel.messages.values()].filter(
    ({ wire }) => wire.thread_ts === ts && wire.ts !== ts,
  );
  const { page, ...rest } = paginateList([parent, ...filterByTime(answers, args)], args, 1_000);
  return {
    messages: page.map(({ wire }) => ({
      ...toVisibleMessage(wire, args),
      ...(wire.ts === ts && getThreadFields(channel, ts)),
    })),
    ...rest,
  };
}

/** `conversations.info` */
export function getConversation({ workspace }: SlackServers, args: RequestArguments): Json {
  const channel = findChannel(workspace, args.required('channel'));
  const count = args.flag('include_num_members') && { num_members: channel.members.size };
  return { channel: { ...toWireChannel(workspace, channel), ...count } };
}

/** `conversations.members` */
export function listMembers({ workspace }: SlackServers, args: RequestArguments): Json {
  const channel = findChannel(workspace, args.required('channel'));
  const { page, has_more: _more, ...rest } = paginateList([...channel.members], args, 100);
  return { members: page, ...rest };
}

/** Implements `conversations.list`: the conversations that the bot can see. */
export function listConversations({ workspace }: SlackServers, args: RequestArguments): Json {
  const types = (args.text('types') ?? 'public_channel').split(',').map((type) => type.trim());
  const kinds = {
    public: 'public_channel',
    private: 'private_channel',
    'group-dm': 'mpim',
    dm: 'im',
  };
  const found = [...workspace.channels.values()].filter(({ kind, members: all, isArchived }) => {
    if (!types.includes(kinds[kind])) return false;
    if (isArchived && args.flag('exclude_archived')) return false;
    return kind === 'public' || all.has(workspace.bot.id);
  });
  const { page, has_more: _more, ...rest } = paginateList(found, args, 100);
  return { channels: page.map((channel) => toWireChannel(workspace, channel)), ...rest };
}

/** Implements `conversations.open`: opens a direct chat with one or more people. */
export function openConversation({ workspace }: SlackServers, args: RequestArguments): Json {
  const known = args.text('channel');
  if (known !== undefined) return { channel: { id: findChannel(workspace, known).id } };
  const users = (args.text('users') ?? '').split(',').filter(Boolean);
  const [user] = users;
  if (user === undefined) throw createRefusal('users_list_not_supplied');
  const people = users.map((id) => workspace.members.get(id));
  if (people.some((person) => person === undefined)) throw createRefusal('user_not_found');
  if (people.some((person) => person?.isDeactivated)) throw createRefusal('user_disabled');
  const channel =
    users.length === 1 ? openDirectChat(workspace, user) : openGroup(workspace, users);
  return {
    channel: args.flag('return_im') ? toWireChannel(workspace, channel) : { id: channel.id },
  };
}

/** Implements `conversations.join`: the bot joins a public channel. */
export function joinConversation({ workspace }: SlackServers, args: RequestArguments): Json {
  const channel = findChannel(workspace, args.required('channel'));
  if (channel.kind !== 'public') throw createRefusal('method_not_supported_for_channel_type');
  if (channel.isArchived) throw createRefusal('is_archived');
  channel.members.add(workspace.bot.id);
  return { channel: toWireChannel(workspace, channel) };
}

function openGroup(workspace: Workspace, users: readonly string[]): Channel {
  const wanted = new Set([...users, workspace.bot.id]);
  for (const channel of workspace.channels.values())
    if (channel.kind === 'group-dm' && wanted.symmetricDifference(channel.members).size === 0)
      return channel;
  const name = `mpdm-${users.join('--').toLowerCase()}-1`;
  return addChannel(workspace, { kind: 'group-dm', name, members: users });
}

function findReadableChannel(workspace: Workspace, args: RequestArguments): Channel {
  const channel = findChannel(workspace, args.required('channel'));
  if (!channel.members.has(workspace.bot.id)) throw createRefusal('not_in_channel');
  return channel;
}

function isBroadcast({ subtype }: StoredMessage['wire']): boolean {
  return subtype === 'thread_broadcast';
}

function toVisibleMessage(wire: StoredMessage['wire'], args: RequestArguments): Json {
  return args.flag('include_all_metadata') ? wire : omitMetadata(wire);
}

/**
 * Returns the messages after `oldest` and before `latest`, oldest first; `inclusive` includes the
 * messages at both times.
 */
function filterByTime(messages: readonly StoredMessage[], args: RequestArguments): StoredMessage[] {
  const oldest = args.number('oldest', 0);
  const latest = args.number('latest', Number.POSITIVE_INFINITY);
  const isInclusive = args.flag('inclusive');
  return messages.filter(({ wire }) => {
    const ts = Number(wire.ts);
    if (isInclusive && (ts === oldest || ts === latest)) return true;
    return ts > oldest && ts < latest;
  });
}

/** Returns one page of a list; the cursor encodes the position of the next page. */
function paginateList<T>(all: readonly T[], args: RequestArguments, usual: number) {
  const limit = Math.min(Math.max(1, args.number('limit', usual)), 1_000);
  const cursor = args.text('cursor');
  const from = cursor === undefined ? 0 : Number(Buffer.from(cursor, 'base64').toString());
  if (!Number.isInteger(from)) throw createRefusal('invalid_cursor');
  const page = all.slice(from, from + limit);
  const hasMore = from + limit < all.length;
  const next = hasMore ? Buffer.from(String(from + limit)).toString('base64') : '';
  return { page, has_more: hasMore, response_metadata: { next_cursor: next } };
}

/** Returns a conversation in the form used in responses. */
function toWireChannel(workspace: Workspace, channel: Channel): Json {
  const { id, kind, name, sharedWith, isArchived } = channel;
  const { team, bot } = workspace;
  const isShared = sharedWith !== undefined;
  const common = {
    ...{ id, created: 0, is_archived: isArchived, is_org_shared: false, context_team_id: team.id },
    ...{ is_im: kind === 'dm', is_mpim: kind === 'group-dm', is_ext_shared: isShared },
    is_shared: isShared,
    ...(isShared && { shared_team_ids: [team.id, sharedWith], connected_team_ids: [sharedWith] }),
  };
  if (kind === 'dm') {
    const user = [...channel.members].find((one) => one !== bot.id);
    return { ...common, user, is_user_deleted: workspace.members.get(user ?? '')?.isDeactivated };
  }
  return {
    ...common,
    ...{ name, name_normalized: name, is_channel: kind === 'public', is_general: false },
    ...{ is_group: kind === 'private', is_private: kind !== 'public' },
    ...{ is_member: channel.members.has(bot.id), creator: bot.id, unlinked: 0 },
    topic: { value: '', creator: '', last_set: 0 },
    purpose: { value: '', creator: '', last_set: 0 },
  };
}
