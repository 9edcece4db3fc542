import type { ChannelContext, IngressOutcome } from '@parley/channels';
import { type Chat, type InboundMessage, reasonOf } from '@parley/core';
import type { TelegramApi } from './api.ts';
import { aloneResponse, toMessageId } from './ephemeral.ts';
import { callFailureOf } from './failures.ts';
import { pressId } from './format.ts';
import type { MovedChats } from './moved-chats.ts';
import { chatAt, messageIdIn, toChat } from './places.ts';
import { toSender } from './senders.ts';
import type { WirePress } from './wire.ts';

export interface PressDeps
  extends Pick<
    ChannelContext<unknown>,
    'account' | 'receive' | 'ignored' | 'message' | 'log' | 'clock'
  > {
  readonly moved: Pick<MovedChats, 'first' | 'idOf'>;
  readonly api: Pick<TelegramApi, 'telegram'>;
}

/** Longest answer to a press, in characters. */
const MAX_ANSWER = 200;

/**
 * Admits a press as a message of the person who pressed; rejects when it must come again (D01). The button's
 * clock stops whatever becomes of it. A person who may not decide gets a private notice, on top of the
 * chat; what is decided loses its buttons. Neither matters for truth: a failure there changes nothing.
 */
export async function admitPress(deps: PressDeps, press: WirePress): Promise<void> {
  const message = await pressToInbound(deps, press);
  let outcome: IngressOutcome | undefined;
  try {
    if (message === undefined) await notePress(deps, press);
    else outcome = await deps.receive(message);
  } finally {
    void answerPress(deps, press, outcome);
  }
  if (outcome?.kind === 'command' && outcome.settled) void removeButtons(deps, press);
}

/** The button of a game, or of a message that was sent from one chat to another. */
async function notePress(
  { moved, ignored, clock }: PressDeps,
  { id, from, message }: WirePress,
): Promise<void> {
  const event = {
    chatId: moved.first(String(message?.chat.id ?? from.id)),
    messageId: pressId(message === undefined ? 'press' : toMessageId(message), id),
    senderId: String(from.id),
    at: clock(),
  };
  await ignored(event, 'it presses a button that Parley did not put there');
}

async function answerPress(
  { api, log }: PressDeps,
  { id }: WirePress,
  outcome: IngressOutcome | undefined,
): Promise<void> {
  const notice = outcome?.kind === 'command' ? outcome.declined : undefined;
  const alert = notice === undefined ? {} : { show_alert: true };
  try {
    const telegram = await api.telegram();
    await telegram.answerCbQuery(id, notice?.slice(0, MAX_ANSWER), alert);
  } catch (error) {
    log.debug({ reason: reasonOf(error) }, 'press of a button not acknowledged');
  }
}

async function removeButtons({ api, log }: PressDeps, { message, from }: WirePress): Promise<void> {
  if (message === undefined) return;
  const { chat, message_id, ephemeral_message_id, business_connection_id } = message;
  const place = { chat_id: chat.id, ...(business_connection_id && { business_connection_id }) };
  const [method, which] =
    ephemeral_message_id === undefined
      ? ['editMessageReplyMarkup', { message_id }]
      : ['editEphemeralMessageReplyMarkup', { ephemeral_message_id, receiver_user_id: from.id }];
  try {
    const telegram = await api.telegram();
    await telegram.callApi(method, { ...place, ...which });
  } catch (error) {
    // Of two presses the second finds them gone.
    const { reason } = callFailureOf(error);
    if (!/message is not modified/i.test(reason)) log.debug({ reason }, 'buttons not removed');
  }
}

/**
 * A pressed button as if that person had written its data, in the place of the button;
 * undefined where there is no place or no data.
 */
async function pressToInbound(
  deps: PressDeps,
  { id, from, message, data }: WirePress,
): Promise<InboundMessage | undefined> {
  if (message === undefined || data === undefined) return undefined;
  const chat = await chatOfPress(deps, message);
  const above = messageIdIn(chat.threadId, toMessageId(message));
  return {
    channel: 'telegram',
    account: deps.account,
    messageId: pressId(above, id),
    chat,
    sender: toSender(from),
    text: data,
    pressed: above,
    ...aloneResponse(message, from, id),
    // What the buttons of this bot say is Parley's, and the press is the person's.
    authored: { text: true },
    mentions: [],
    addressed: true,
    // A press has no time of its own.
    sentAt: deps.clock(),
    variables: {},
  };
}

/**
 * The chat of the message above a button. Of one that is too old Telegram says no topic, and of one that a single person
 * sees not whether it is of their own conversation or of the group's; it is where the bot sent it.
 */
async function chatOfPress(
  deps: PressDeps,
  message: NonNullable<WirePress['message']>,
): Promise<Chat> {
  const chat = toChat(message);
  const isUncertain = message.date === 0 || message.ephemeral_message_id !== undefined;
  if (!isUncertain || chat.threadId !== undefined) return chat;
  const first = deps.moved.first(chat.id);
  const sent = await deps.message(first, deps.moved.idOf(first, toMessageId(message)));
  return sent?.by === 'agent' ? chatAt(sent.threadId, message) : chat;
}
