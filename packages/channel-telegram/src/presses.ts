import type { ChannelContext, IngressOutcome } from '@parley/channels';
import { type Chat, type InboundMessage, reasonOf } from '@parley/core';
import type { TelegramApi } from './api.ts';
import { createEphemeralResponse, toMessageId } from './ephemeral.ts';
import { toCallFailure } from './failures.ts';
import { formatPressId } from './format.ts';
import type { MovedChatRegistry } from './moved-chats.ts';
import { formatMessageId, toChat, toChatInThread } from './places.ts';
import { toSender } from './senders.ts';
import type { WirePress } from './wire.ts';

export interface PressDeps
  extends Pick<
    ChannelContext<unknown>,
    'account' | 'receive' | 'ignored' | 'message' | 'log' | 'clock'
  > {
  readonly moved: Pick<MovedChatRegistry, 'first' | 'idOf'>;
  readonly api: Pick<TelegramApi, 'telegram'>;
}

/** The maximum length of the notice that answers a button press, in characters. */
const MAX_ANSWER = 200;

/**
 * Admits a button press as a message from the person who pressed; rejects when Telegram must
 * deliver it again (D01). The button's progress indicator is always removed. A person who is not
 * allowed to decide gets a private notice shown over the chat, and the buttons of a decided request
 * are removed. The notice and the removal of the buttons are best effort, because a failure changes
 * no state.
 */
export async function admitPress(deps: PressDeps, press: WirePress): Promise<void> {
  const message = await pressToInbound(deps, press);
  let outcome: IngressOutcome | undefined;
  try {
    if (message === undefined) await recordIgnoredPress(deps, press);
    else outcome = await deps.receive(message);
  } finally {
    void answerPress(deps, press, outcome);
  }
  if (outcome?.kind === 'command' && outcome.settled) void removeButtons(deps, press);
}

/** Records a button press in a game, or on a message that was sent from one chat to another. */
async function recordIgnoredPress(
  { moved, ignored, clock }: PressDeps,
  { id, from, message }: WirePress,
): Promise<void> {
  const event = {
    chatId: moved.first(String(message?.chat.id ?? from.id)),
    messageId: formatPressId(message === undefined ? 'press' : toMessageId(message), id),
    senderId: String(from.id),
    at: clock(),
  };
  await ignored(event, 'the pressed button is not from Parley');
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
    log.debug({ reason: reasonOf(error) }, 'a button press could not be acknowledged');
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
    // When two people press, the second press finds the buttons already gone.
    const { reason } = toCallFailure(error);
    if (!/message is not modified/i.test(reason)) log.debug({ reason }, 'buttons not removed');
  }
}

/**
 * Converts a button press into a message with the button's data as its text, in the place of the
 * button; undefined if the place or the data is missing.
 */
async function pressToInbound(
  deps: PressDeps,
  { id, from, message, data }: WirePress,
): Promise<InboundMessage | undefined> {
  if (message === undefined || data === undefined) return undefined;
  const chat = await findPressChat(deps, message);
  const above = formatMessageId(chat.threadId, toMessageId(message));
  return {
    channel: 'telegram',
    account: deps.account,
    messageId: formatPressId(above, id),
    chat,
    sender: toSender(from),
    text: data,
    pressed: above,
    ...createEphemeralResponse(message, from, id),
    // The button's data was written by Parley, but the person chose to press it.
    authored: { text: true },
    mentions: [],
    addressed: true,
    // Telegram does not send a timestamp for a button press.
    sentAt: deps.clock(),
    variables: {},
  };
}

/**
 * The chat of the message above a button. Telegram does not state the topic of a message that is
 * too old, nor whether a message for a single person belongs to that person's conversation or to
 * the group's. In both cases the place is looked up from where the bot sent the message.
 */
async function findPressChat(
  deps: PressDeps,
  message: NonNullable<WirePress['message']>,
): Promise<Chat> {
  const chat = toChat(message);
  const isUncertain = message.date === 0 || message.ephemeral_message_id !== undefined;
  if (!isUncertain || chat.threadId !== undefined) return chat;
  const first = deps.moved.first(chat.id);
  const sent = await deps.message(first, deps.moved.idOf(first, toMessageId(message)));
  return sent?.by === 'agent' ? toChatInThread(sent.threadId, message) : chat;
}
