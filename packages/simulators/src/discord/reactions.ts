import { describeMember } from './descriptions.ts';
import type { WireMessage, WireReaction } from './wire.ts';
import type { Channel, World } from './world.ts';

type Emoji = WireReaction['emoji'];

/** An emoji as the path writes it, `👍` or `name:id`; undefined when it is neither. */
export function readEmoji(text: string): Emoji | undefined {
  const [, name, id] = /^(\w+):(\d+)$/.exec(text) ?? [];
  if (name !== undefined && id !== undefined) return { id, name };
  return /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u.test(text)
    ? { id: null, name: text }
    : undefined;
}

/** Somebody puts an emoji below a message, or takes it away; nothing happens when it is so already. */
export function react(
  world: World,
  channel: Channel,
  message: WireMessage,
  change: { readonly userId: string; readonly emoji: Emoji; readonly gone: boolean },
): void {
  const { userId, emoji, gone } = change;
  const who = reactors(world, message.id, emoji);
  if (who.has(userId) !== gone) return;
  if (gone) who.delete(userId);
  else who.add(userId);
  const others = (message.reactions ?? []).filter(
    ({ emoji: other }) => keyOf(other) !== keyOf(emoji),
  );
  const own = { emoji, count: who.size, me: who.has(world.bot.id) };
  channel.messages.set(message.id, {
    ...message,
    reactions: who.size === 0 ? others : [...others, own],
  });
  const guild = channel.guildId === undefined ? undefined : world.guilds.get(channel.guildId);
  const data = {
    user_id: userId,
    channel_id: channel.id,
    message_id: message.id,
    emoji,
    burst: false,
    type: 0,
    ...(guild === undefined ? {} : { guild_id: guild.id }),
    ...(guild === undefined || gone
      ? {}
      : { member: { ...describeMember(guild, userId), user: world.user(userId) } }),
    ...(gone ? {} : { message_author_id: message.author.id }),
  };
  world.emit(gone ? 'MESSAGE_REACTION_REMOVE' : 'MESSAGE_REACTION_ADD', data, channel.guildId);
}

/** Who has put this emoji below a message. */
export function reactors(world: World, messageId: string, emoji: Emoji): Set<string> {
  const key = `${messageId} ${keyOf(emoji)}`;
  const who = world.reactors.get(key) ?? new Set<string>();
  world.reactors.set(key, who);
  return who;
}

function keyOf({ id, name }: Emoji): string {
  return id ?? name;
}
