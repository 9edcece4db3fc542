import type { ChatAddress } from '@parley/channels';
import type { InboundMessage, ReplyRoute } from '@parley/core';
import { z } from 'zod';
import { messageNumber } from './format.ts';
import { placeOfThread } from './places.ts';

/**
 * Ephemeral messages: a group shows them to one person and the bot alone (Bot API 10.2). They have the number 0 in
 * their chat and a number of their own, which Telegram gives to another one once the message is gone.
 */
interface Numbered {
  readonly message_id: number;
  readonly ephemeral_message_id?: number | undefined;
  /** Seconds since 1970. */
  readonly date?: number | undefined;
}

/** The id of a message, in and out; of an ephemeral one no number, so that it is never taken for one that all see. */
export function toMessageId({ message_id, ephemeral_message_id, date = 0 }: Numbered): string {
  return ephemeral_message_id === undefined
    ? String(message_id)
    : `e${ephemeral_message_id}.${date}`;
}

/** Telegram's number of an ephemeral message; undefined for all others. */
export function ephemeralNumber(messageId: string | undefined): number | undefined {
  const digits = /^e(\d+)\./.exec(messageId ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Whom an answer is for, and what it answers there. */
const Alone = z.object({
  to: z.int(),
  /** The ephemeral message that it answers: for 15 s Telegram takes an answer from any bot. */
  message: z.int().optional(),
  /** The press that it answers, for 15 s as well. */
  query: z.string().optional(),
});
export type Alone = z.infer<typeof Alone>;

/**
 * The data of an answer to an ephemeral message, in the form that travels with message and route (`response`);
 * nothing for a message that all see.
 */
export function aloneResponse(
  message: Pick<Numbered, 'ephemeral_message_id'> | undefined,
  sender: { readonly id: number } | undefined,
  query?: string,
): Pick<InboundMessage, 'response'> {
  const number = message?.ephemeral_message_id;
  if (number === undefined || sender === undefined) return {};
  const answered: Alone =
    query === undefined ? { to: sender.id, message: number } : { to: sender.id, query };
  return { response: JSON.stringify(answered) };
}

/**
 * The one person that a route leads to; undefined: everyone in the chat. What is sent later in a conversation of one
 * person and the bot, and answers nothing, is for that person as well.
 */
export function aloneOn({
  response,
  replyToMessageId,
  threadId,
}: Pick<ReplyRoute, 'response' | 'replyToMessageId' | 'threadId'>): Alone | undefined {
  if (response !== undefined && replyToMessageId !== undefined)
    return Alone.parse(JSON.parse(response));
  const place = placeOfThread(threadId);
  return place.kind === 'alone' ? { to: Number(place.person) } : undefined;
}

/** Whether others in the chat must see nothing of an answer there, not even that it is written. */
export function isAlone({ response, threadId }: ChatAddress): boolean {
  return response !== undefined || placeOfThread(threadId).kind === 'alone';
}

/**
 * The ways to send an answer for one person, in the order in which it is tried: as the answer to what they wrote; by
 * itself, which administrators among the bots may; in their direct chat, if they have begun one. Never to everyone.
 */
const WAYS = ['answer', 'ephemeral', 'direct'] as const;
export type AloneWay = (typeof WAYS)[number];

/** The way that is tried first. */
export function firstWay({ message, query }: Alone): AloneWay {
  return message === undefined && query === undefined ? 'ephemeral' : 'answer';
}

/** The next way once Telegram has refused this one. */
export function nextWay(way: AloneWay): AloneWay | undefined {
  return WAYS[WAYS.indexOf(way) + 1];
}

/** The parameters that show a message to one person; the chat itself comes from the caller. */
export function aloneParameters({ to, message, query }: Alone, way: AloneWay): object {
  if (way === 'direct') return {};
  const isAnswer = way === 'answer';
  const press = isAnswer && query !== undefined && { callback_query_id: query };
  const quoted = isAnswer &&
    message !== undefined && { reply_parameters: { ephemeral_message_id: message } };
  return { ephemeral_message_parameters: { receiver_user_id: to, ...press }, ...quoted };
}

/**
 * The id of a message that answers for one person: what is in their direct chat has a number of that chat, which is
 * no number of the group.
 */
export function sentAloneId(messageId: string, way: AloneWay): string {
  return way === 'direct' && messageNumber(messageId) !== undefined
    ? `direct:${messageId}`
    : messageId;
}
