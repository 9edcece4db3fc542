import type { ChatAddress, ChatStateBeforePart } from '@parley/channels';
import type { OutboundPart } from '@parley/core';
import type { Adapter, Message } from 'chat';
import type { LocationConverter } from './places.ts';
import type { NamedTraits } from './traits.ts';

interface HistoryDeps {
  readonly adapter: Adapter;
  readonly places: LocationConverter;
  readonly traits: NamedTraits;
}

const MAX_READ = 50;

/**
 * Returns the bot's own latest messages in a chat or thread, oldest first. Rejects if the history
 * cannot be read.
 */
export async function readBotMessages(
  { adapter, places, traits }: HistoryDeps,
  address: ChatAddress,
): Promise<readonly Message[]> {
  if (traits.history === 'none') return [];
  const threadId = await places.threadIdOf(address);
  const ofChannel = traits.history === 'channel' && address.threadId === undefined;
  const options = { limit: MAX_READ, direction: 'backward' } as const;
  const { messages } =
    ofChannel && adapter.fetchChannelMessages !== undefined
      ? await adapter.fetchChannelMessages(threadId, options)
      : await adapter.fetchMessages(threadId, options);
  return messages.filter(({ author }) => author.isMe);
}

/** The maximum number of a chat's sent messages that `ChatStateBeforePart` lists. */
const LISTED = 50;

/**
 * Returns the id of the message that shows a message part. It is one of the bot's own messages, has
 * the same text, and was not known before the part. Only the time since the oldest listed message
 * is searched, because an older message with the same text may be known without being listed. Pure.
 */
export function findMatchingMessage(
  messages: readonly Message[],
  { body, route }: Pick<OutboundPart, 'body' | 'route'>,
  { known }: ChatStateBeforePart,
): string | undefined {
  const here = known.filter(({ chatId }) => chatId === route.chatId);
  const sent = here.filter(({ direction }) => direction === 'out');
  const from = sent.length < LISTED ? 0 : Math.min(...sent.map(({ at }) => at));
  const others = new Set(here.map(({ messageId }) => messageId));
  const wanted = new Set([toComparableText(body.plain), toComparableText(body.text)]);
  return messages.find(
    ({ id, text, metadata }) =>
      !others.has(id) && metadata.dateSent.getTime() >= from && wanted.has(toComparableText(text)),
  )?.id;
}

/** The letters and digits of a text, because platforms change markup, spaces and URLs. */
export function toComparableText(text: string): string {
  const words = text.replaceAll(/https?:\/\/\S+/g, '').replaceAll(/[^\p{L}\p{N}]/gu, '');
  return words === '' ? text.trim() : words;
}
