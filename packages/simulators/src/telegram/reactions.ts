import type { BotAccount } from './account.ts';
import { badRequest } from './refusal.ts';
import { isRecord, type RequestParams } from './request-params.ts';

/** The emoji that bots may react with. */
const ALLOWED = new Set(
  '❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡'.split(
    ' ',
  ),
);

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
