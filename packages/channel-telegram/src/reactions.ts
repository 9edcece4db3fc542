import { BoundedMap, type InboundReaction, type Logger, reasonOf } from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './api.ts';
import { toChat } from './places.ts';
import { toChatSender, toSender } from './senders.ts';
import type { WireReaction } from './wire.ts';

const Stickers = z.array(
  z.object({ custom_emoji_id: z.string().optional(), emoji: z.string().optional() }),
);
const REMEMBERED = 1_000;
/**
 * Limits on untrusted input. Telegram allows three reactions per person, each a code of a few
 * characters.
 */
const [MAX_REACTIONS, MAX_EMOJI] = [20, 64];
/** The text for a custom emoji whose standard emoji is unknown. */
const CUSTOM = 'custom emoji';

interface ReactionDeps {
  readonly account: string;
  readonly api: Pick<TelegramApi, 'telegram'>;
  readonly log: Logger;
}

/**
 * Creates a reader of reactions. A custom emoji is replaced by the standard emoji that its author
 * assigned to it; Telegram is asked once per emoji.
 */
export function createReactionReader({ account, api, log }: ReactionDeps) {
  const standard = new BoundedMap<string, string>(REMEMBERED);
  const learn = async (ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return;
    try {
      const telegram = await api.telegram();
      const stickers = Stickers.parse(await telegram.getCustomEmojiStickers([...ids]));
      for (const { custom_emoji_id: id, emoji } of stickers)
        if (id !== undefined && emoji !== undefined) standard.set(id, emoji);
    } catch (thrown) {
      log.debug({ reason: reasonOf(thrown) }, 'custom emoji could not be resolved');
    }
  };
  return async (reaction: WireReaction): Promise<InboundReaction | undefined> => {
    const { chat, message_id, date, user, actor_chat, new_reaction } = reaction;
    const sender = user ? toSender(user) : actor_chat && toChatSender(actor_chat);
    if (sender === undefined) return undefined;
    const ids = new_reaction.flatMap(({ custom_emoji_id: id }) => id ?? []);
    await learn(ids.filter((id) => !standard.has(id)));
    const emojis = new_reaction
      .slice(0, MAX_REACTIONS)
      .map(({ type, emoji, custom_emoji_id: id = '' }) => {
        const shown = type === 'paid' ? '⭐' : emoji || standard.get(id) || CUSTOM;
        return shown.length <= MAX_EMOJI ? shown : CUSTOM;
      });
    return {
      channel: 'telegram',
      account,
      chat: toChat({ chat }),
      messageId: String(message_id),
      sender,
      emojis,
      sentAt: date * 1000,
    };
  };
}
