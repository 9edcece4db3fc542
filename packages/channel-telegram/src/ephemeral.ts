import type { ChatAddress } from '@parley/channels';
import type { InboundMessage, ReplyRoute } from '@parley/core';
import { z } from 'zod';
import { parseMessageNumber } from './format.ts';
import { parseThreadId } from './places.ts';

/**
 * In a group, ephemeral messages are visible only to one person and the bot (Bot API 10.2). An
 * ephemeral message has the message number 0 and a separate number, which Telegram reuses once the
 * message is gone.
 */
interface NumberedMessage {
  readonly message_id: number;
  readonly ephemeral_message_id?: number | undefined;
  /** A Unix time in seconds. */
  readonly date?: number | undefined;
}

/**
 * The id of an inbound or outbound message. The id of an ephemeral message is not a plain number,
 * so that it is never mistaken for a message that everyone sees.
 */
export function toMessageId({
  message_id,
  ephemeral_message_id,
  date = 0,
}: NumberedMessage): string {
  return ephemeral_message_id === undefined
    ? String(message_id)
    : `e${ephemeral_message_id}.${date}`;
}

/** Telegram's number of an ephemeral message; undefined for all others. */
export function parseEphemeralNumber(messageId: string | undefined): number | undefined {
  const digits = /^e(\d+)\./.exec(messageId ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The recipient of a private answer, and what it answers. */
const Alone = z.object({
  to: z.int(),
  /**
   * The ephemeral message that the answer replies to. Telegram accepts an answer from any bot for
   * 15 s.
   */
  message: z.int().optional(),
  /** The button press that the answer responds to. Telegram accepts an answer for 15 s. */
  query: z.string().optional(),
});
export type SoleRecipient = z.infer<typeof Alone>;

/**
 * The `response` of an answer to an ephemeral message, in the form that is stored with message and
 * route; undefined for a message that everyone sees.
 */
export function createEphemeralResponse(
  message: Pick<NumberedMessage, 'ephemeral_message_id'> | undefined,
  sender: { readonly id: number } | undefined,
  query?: string,
): Pick<InboundMessage, 'response'> {
  const number = message?.ephemeral_message_id;
  if (number === undefined || sender === undefined) return {};
  const answered: SoleRecipient =
    query === undefined ? { to: sender.id, message: number } : { to: sender.id, query };
  return { response: JSON.stringify(answered) };
}

/**
 * The only recipient on a route; undefined when it leads to everyone in the chat. In a conversation
 * between one person and the bot, an unprompted message is also sent only to that person.
 */
export function findSoleRecipient({
  response,
  replyToMessageId,
  threadId,
}: Pick<ReplyRoute, 'response' | 'replyToMessageId' | 'threadId'>): SoleRecipient | undefined {
  if (response !== undefined && replyToMessageId !== undefined)
    return Alone.parse(JSON.parse(response));
  const place = parseThreadId(threadId);
  return place.kind === 'alone' ? { to: Number(place.person) } : undefined;
}

/**
 * Whether answers on a route, and the typing indicator, must be hidden from everyone else in the
 * chat.
 */
export function hasSoleRecipient({ response, threadId }: ChatAddress): boolean {
  return response !== undefined || parseThreadId(threadId).kind === 'alone';
}

/**
 * The ways to send an answer to one person, in the order in which they are tried. The first is a
 * reply to their message; the second is a separate ephemeral message, which only bots that are
 * administrators may send; the third is a message in their direct chat, if they have started one.
 * The answer is never sent to everyone.
 */
const WAYS = ['answer', 'ephemeral', 'direct'] as const;
export type EphemeralMethod = (typeof WAYS)[number];

export function selectFirstMethod({ message, query }: SoleRecipient): EphemeralMethod {
  return message === undefined && query === undefined ? 'ephemeral' : 'answer';
}

/** The fallback for when Telegram has refused this method. */
export function selectNextMethod(way: EphemeralMethod): EphemeralMethod | undefined {
  return WAYS[WAYS.indexOf(way) + 1];
}

/** The parameters that make a message visible to only one person. */
export function toEphemeralParameters(
  { to, message, query }: SoleRecipient,
  way: EphemeralMethod,
): object {
  if (way === 'direct') return {};
  const isAnswer = way === 'answer';
  const press = isAnswer && query !== undefined && { callback_query_id: query };
  const quoted = isAnswer &&
    message !== undefined && { reply_parameters: { ephemeral_message_id: message } };
  return { ephemeral_message_parameters: { receiver_user_id: to, ...press }, ...quoted };
}

/**
 * The id of a message sent to one person. In their direct chat, a message is numbered within that
 * chat, not within the group.
 */
export function formatEphemeralSentId(messageId: string, way: EphemeralMethod): string {
  return way === 'direct' && parseMessageNumber(messageId) !== undefined
    ? `direct:${messageId}`
    : messageId;
}
