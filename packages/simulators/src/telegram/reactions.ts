import type { BotAccount } from './account.ts';
import { type KnownChat, type KnownUser, userOf } from './people.ts';
import { badRequest } from './refusal.ts';
import { isRecord, type RequestParams } from './request-params.ts';

/** The emoji that bots may react with. */
const ALLOWED = new Set(
  '❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡'.split(
    ' ',
  ),
);

/** What a person, or who speaks as a chat, reacts with. */
export interface Reaction {
  readonly chat: number;
  readonly message: number;
  /** All of theirs from now on: emoji, or `{ custom }` with the id of one that resembles `like`. Empty: none. */
  readonly emojis: readonly (string | { readonly custom: string; readonly like: string })[];
  readonly from?: number | KnownUser | undefined;
  readonly as?: KnownChat | undefined;
}

/**
 * A person reacts. The bot hears of it in private chats, and in groups that it administers; of channels it would
 * hear numbers alone.
 */
export function react(
  account: BotAccount,
  { chat: id, message, emojis, from, as }: Reaction,
): void {
  const chat = account.chats.get(id);
  if (!chat?.messages.has(message)) throw new Error(`No message ${message} in chat ${id}.`);
  const user = userOf({ chat: id, from }, chat);
  const who = as === undefined ? { user } : { actor_chat: { type: 'channel', ...as } };
  const key = `${message} ${as?.id ?? user.id}`;
  const old = chat.reactions.get(key) ?? [];
  const now = emojis.map((emoji) => {
    if (typeof emoji === 'string') return { type: 'emoji', emoji };
    account.customEmoji.set(emoji.custom, emoji.like);
    return { type: 'custom_emoji', custom_emoji_id: emoji.custom };
  });
  chat.reactions.set(key, now);
  const event = { chat: chat.info, message_id: message, date: Math.floor(account.clock() / 1000) };
  if (chat.info.type === 'channel') {
    const reactions = now.map((type) => ({ type, total_count: 1 }));
    account.updates.push('message_reaction_count', { ...event, reactions });
  } else if (chat.info.type === 'private' || chat.administrators.has(account.me.id)) {
    const change = { old_reaction: old, new_reaction: now };
    account.updates.push('message_reaction', { ...event, ...who, ...change });
  }
}

/** getCustomEmojiStickers: those that somebody has used. */
export function getCustomEmojiStickers(account: BotAccount, params: RequestParams): object[] {
  const ids = params.json('custom_emoji_ids');
  if (!Array.isArray(ids) || ids.length > 200) throw badRequest('custom_emoji_ids is invalid');
  return ids.flatMap((id: unknown) => {
    const emoji = account.customEmoji.get(String(id));
    return emoji === undefined ? [] : { type: 'custom_emoji', custom_emoji_id: id, emoji };
  });
}

/** setMessageReaction: at most one emoji of the known ones; an empty list takes it back. */
export function setMessageReaction(account: BotAccount, params: RequestParams): true {
  const chat = account.chats.findWritable(params.text('chat_id'));
  const id = params.integer('message_id') ?? 0;
  if (!chat.messages.has(id)) throw badRequest('message to react not found');
  const list = params.json('reaction') ?? [];
  if (!Array.isArray(list)) throw badRequest("can't parse reaction: expected an Array");
  if (list.length > 1) throw badRequest('REACTIONS_TOO_MANY');
  const emoji = list.map((item: unknown) => {
    const { type, emoji: sign } = isRecord(item) ? item : {};
    if (type !== 'emoji' || typeof sign !== 'string' || !ALLOWED.has(sign)) {
      throw badRequest('REACTION_INVALID');
    }
    return sign;
  });
  account.transcript.react(chat.info.id, id, emoji[0]);
  return true;
}
