import type { MessageFacet } from '@parley/channels';
import { BoundedMap } from '@parley/contracts';
import type { DiscordApi } from './discord-api.ts';
import { contentBody } from './message-body.ts';
import { translated } from './send-failure.ts';

/** Changes the bot's own messages and reacts to others'. */
export function createMessageFacet(
  api: Pick<DiscordApi, 'change' | 'react' | 'remove'>,
  linkPreviews: boolean,
): Required<MessageFacet> {
  /** A bot has one reaction per emoji; to take "the" reaction back it has to know which it put. */
  const put = new BoundedMap<string, string>(MOST_REACTIONS);
  return {
    edit: ({ chatId, threadId = chatId }, messageId, { text }) =>
      translated(threadId, async () => {
        await api.change(threadId, messageId, contentBody(text, {}, linkPreviews));
      }),
    delete: ({ chatId, threadId = chatId }, messageId) =>
      translated(threadId, () => api.remove(threadId, messageId)),
    react: ({ chatId, threadId = chatId }, messageId, emoji) =>
      translated(threadId, async () => {
        const old = put.get(messageId);
        if (old !== undefined && old !== emoji) await api.react(threadId, messageId, old, false);
        put.delete(messageId);
        if (emoji === undefined) return;
        await api.react(threadId, messageId, emoji, true);
        put.set(messageId, emoji);
      }),
  };
}

/** Messages whose reaction is remembered. */
const MOST_REACTIONS = 1_000;
