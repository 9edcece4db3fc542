import { type BotAccount, type BusinessAccount, type ChatRecord, ChatRegistry } from './account.ts';
import { parseTextParams } from './content.ts';
import { createBadRequestRefusal, isRecord, RequestParams } from './request.ts';
import type { IdentifiedObject, WireMessage } from './wire.ts';

/** A request to connect the bot to a person's account, to change the connection, or to end it. */
export interface ConnectionChange {
  readonly id: string;
  /** The id of the account's owner; user 2001 when absent. */
  readonly user?: IdentifiedObject | undefined;
  readonly canReply?: boolean | undefined;
  readonly isEnabled?: boolean | undefined;
}

/** Connects the bot to a person's account and sends the bot a `business_connection` update. */
export function connectBusiness(account: BotAccount, wish: ConnectionChange): void {
  const { id, canReply = true, isEnabled = true } = wish;
  const known = account.business.get(id);
  const given = wish.user ?? { id: 2001 };
  const user = known?.user ?? { is_bot: false, first_name: `User ${given.id}`, ...given };
  account.business.set(id, {
    user,
    chats: known?.chats ?? new ChatRegistry(),
    canReply,
    isEnabled,
  });
  account.updates.push('business_connection', describeConnection(account, id));
}

/** Finds the account of a business connection. */
export function getBusinessAccount(account: BotAccount, id: string): BusinessAccount {
  const business = account.business.get(id);
  if (business === undefined) throw new Error(`There is no business connection ${id}.`);
  return business;
}

function describeConnection({ business, clock }: BotAccount, id: string): object {
  const found = business.get(id);
  if (found === undefined) throw createBadRequestRefusal('BUSINESS_CONNECTION_INVALID');
  return {
    id,
    user: found.user,
    user_chat_id: found.user.id,
    date: Math.floor(clock() / 1000),
    rights: found.canReply ? { can_reply: true } : {},
    is_enabled: found.isEnabled,
  };
}

/** getBusinessConnection */
export function getBusinessConnection(account: BotAccount, params: RequestParams): object {
  return describeConnection(account, params.text('business_connection_id') ?? '');
}

/** Implements deleteBusinessMessages for the bot's own messages. */
export function deleteBusinessMessages(account: BotAccount, params: RequestParams): true {
  const id = params.text('business_connection_id') ?? '';
  const found = account.business.get(id);
  if (found?.isEnabled !== true) throw createBadRequestRefusal('BUSINESS_CONNECTION_INVALID');
  const numbers = params.json('message_ids');
  if (!Array.isArray(numbers))
    throw createBadRequestRefusal('message identifiers are not specified');
  for (const number of numbers.map(Number))
    for (const chat of found.chats.all())
      if (chat.messages.delete(number)) account.transcript.remove(chat.info.id, number, id);
  return true;
}

/** The chat that a call writes to, with its topic and business connection. */
export interface SendTarget {
  readonly chats: ChatRegistry;
  readonly chat: ChatRecord;
  /** Additional fields of the messages in this chat. */
  readonly beside: Partial<WireMessage>;
}

/**
 * Resolves the chat and the topic that a call names.
 * @throws Refusal when the chat does not exist, or the call lacks a required topic
 */
export function resolveTarget(account: BotAccount, params: RequestParams): SendTarget {
  const connection = params.text('business_connection_id');
  if (connection !== undefined) return resolveBusinessTarget(account, connection, params);
  const chat = account.chats.findWritable(params.text('chat_id'));
  const topic = params.integer('direct_messages_topic_id');
  if (chat.info.is_direct_messages !== true) {
    if (topic !== undefined)
      throw createBadRequestRefusal('the chat is not a direct messages chat');
    return { chats: account.chats, chat, beside: {} };
  }
  if (topic === undefined) throw createBadRequestRefusal('DIRECT_MESSAGES_TOPIC_REQUIRED');
  const user = chat.subscribers.get(topic);
  if (user === undefined) throw createBadRequestRefusal('direct messages topic not found');
  const beside = { direct_messages_topic: { topic_id: topic, user } };
  return { chats: account.chats, chat, beside };
}

function resolveBusinessTarget(
  account: BotAccount,
  connection: string,
  params: RequestParams,
): SendTarget {
  const found = account.business.get(connection);
  if (found?.isEnabled !== true) throw createBadRequestRefusal('BUSINESS_CONNECTION_INVALID');
  if (!found.canReply) throw createBadRequestRefusal('BOT_ACCESS_FORBIDDEN');
  const chat = found.chats.get(params.integer('chat_id') ?? 0);
  if (chat === undefined) throw createBadRequestRefusal('BUSINESS_PEER_INVALID');
  const beside = {
    from: found.user,
    sender_business_bot: account.me,
    business_connection_id: connection,
  };
  return { chats: found.chats, chat, beside };
}

/** Implements answerGuestQuery, which accepts one text answer per query. */
export function answerGuestQuery(account: BotAccount, params: RequestParams): object {
  const query = account.guests.get(params.text('guest_query_id') ?? '');
  if (query === undefined || query.answer !== undefined)
    throw createBadRequestRefusal(
      'query is too old and response timeout expired or query ID is invalid',
    );
  const result = params.json('result');
  const content = isRecord(result) ? result.input_message_content : undefined;
  if (!isRecord(result) || result.type !== 'article' || !isRecord(content))
    throw createBadRequestRefusal("can't parse inline query result");
  const { message_text: text, ...others } = content;
  query.answer = parseTextParams(new RequestParams({ text, ...others })).text;
  account.transcript.changes.changed();
  return { inline_message_id: `guest-${params.text('guest_query_id')}` };
}
