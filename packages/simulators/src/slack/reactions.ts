import { isEmojiName, resolveEmojiAlias } from './emoji.ts';
import { emitReaction } from './events.ts';
import { createRefusal, type RequestArguments } from './request.ts';
import type { SlackServers } from './servers.ts';
import type { Json } from './wire.ts';
import { type Channel, findChannel, type StoredMessage } from './workspace.ts';

/** `reactions.add` */
export function addReaction(servers: SlackServers, args: RequestArguments): Json {
  return changeBotReaction(servers, args, true);
}

/** `reactions.remove` */
export function removeReaction(servers: SlackServers, args: RequestArguments): Json {
  return changeBotReaction(servers, args, false);
}

function changeBotReaction(servers: SlackServers, args: RequestArguments, isAdded: boolean): Json {
  const { workspace } = servers;
  const channel = findChannel(workspace, args.required('channel'));
  const name = args.required('name');
  if (!isEmojiName(name)) throw createRefusal('invalid_name');
  const stored = channel.messages.get(args.required('timestamp'));
  if (stored === undefined) throw createRefusal('message_not_found');
  if (!setReaction(servers, channel, stored, { user: workspace.bot.id, name, isAdded }))
    throw createRefusal(isAdded ? 'already_reacted' : 'no_reaction');
  return {};
}

/** A reaction that a member adds or removes. */
interface ReactionChange {
  readonly user: string;
  readonly name: string;
  readonly isAdded: boolean;
}

/** Adds or removes a reaction and sends the bot an event; returns false when nothing changes. */
export function setReaction(
  servers: SlackServers,
  channel: Channel,
  stored: StoredMessage,
  { user, name: given, isAdded }: ReactionChange,
): boolean {
  const name = resolveEmojiAlias(given);
  const all = stored.wire.reactions ?? [];
  const old = all.find((one) => one.name === name) ?? { name, users: [], count: 0 };
  if (old.users.includes(user) === isAdded) return false;
  const users = isAdded ? [...old.users, user] : old.users.filter((one) => one !== user);
  const others = all.filter((one) => one !== old);
  const reactions = users.length === 0 ? others : [...others, { name, users, count: users.length }];
  stored.wire = { ...stored.wire, reactions };
  servers.workspace.transcript.changes.changed();
  const type = isAdded ? 'reaction_added' : 'reaction_removed';
  emitReaction(servers, channel, { type, user, reaction: name, message: stored.wire });
  return true;
}
