import { type BotAccount, type ChatRecord, ChatRegistry } from './account.ts';
import { getBusinessAccount } from './elsewhere.ts';
import { storeEphemeralMessage } from './ephemeral.ts';
import type { SentFile } from './files.ts';
import type { HtmlEntity } from './parse-html.ts';
import { type IdentifiedObject, listButtons, type WireMessage, type WireUser } from './wire.ts';

/** A bare id creates a private chat, group or supergroup, depending on its range. */
export interface PersonMessage {
  readonly chat: number | IdentifiedObject;
  /** The author; by default, the other person in a private chat, or user 1001 elsewhere. */
  readonly from?: number | IdentifiedObject | undefined;
  readonly text?: string | undefined;
  /** A photo, recording or document; the text becomes its caption. */
  readonly file?: SentFile | undefined;
  /** Messages with the same album id form an album. */
  readonly album?: string | undefined;
  /**
   * The chat in whose name a person writes: an anonymous administrator's group, or the person's
   * channel.
   */
  readonly as?: IdentifiedObject | undefined;
  /** The formatting; by default, commands, mentions and URLs are detected. */
  readonly entities?: readonly HtmlEntity[] | undefined;
  /** The id of a forum topic, which is created if new. */
  readonly thread?: number | undefined;
  readonly replyTo?: number | undefined;
  /**
   * Whether the message is a command visible only to its sender and the bot (`is_ephemeral` in the
   * menu of groups).
   */
  readonly ephemeral?: boolean | undefined;
  /** A subscriber's topic in the direct messages of a channel, created for this person if new. */
  readonly subscriber?: number | undefined;
  /** The business connection of the account whose chat the person writes in. */
  readonly business?: string | undefined;
  /** The query id, when a person asks the bot as a guest in a chat where it is not a member. */
  readonly guest?: string | undefined;
  /** Further message fields, for example `photo` or `new_chat_members`. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** Sends a message as a person: the message becomes visible, and an update is queued. */
export function sendPersonMessage(account: BotAccount, saying: PersonMessage): WireMessage {
  const known = typeof saying.chat === 'number' ? { id: saying.chat } : saying.chat;
  const chats = getChats(account, saying);
  const chat = chats.open(known);
  const from = resolveAuthor(saying, chat);
  if (saying.thread !== undefined) openTopic(chat, saying.thread);
  const said = {
    date: Math.floor(account.clock() / 1000),
    chat: chat.info,
    ...buildSenderFields(saying, chat, from),
    ...buildContent(account, saying),
    ...buildLocationFields(saying, chat),
    ...buildSubChatFields(saying, chat, from),
    ...saying.extra,
  };
  if (saying.ephemeral === true) {
    const whisper = storeEphemeralMessage(account, chat, { ...said, receiver_user: account.me });
    account.transcript.show(whisper, from.id);
    account.updates.push('message', whisper);
    return whisper;
  }
  const message: WireMessage = { message_id: chats.nextMessageId(chat), ...said };
  chat.messages.set(message.message_id, message);
  if (saying.guest === undefined) account.transcript.show(message, from.id);
  else account.guests.set(saying.guest, { chatId: chat.info.id, answer: undefined });
  account.updates.push(getUpdateKind(saying, chat), message);
  return message;
}

/**
 * In a guest query, the bot sees only the question, and the chat's id is unrelated to the bot's own
 * chats.
 */
function getChats(account: BotAccount, { business, guest }: PersonMessage): ChatRegistry {
  if (guest !== undefined) return new ChatRegistry();
  return business === undefined ? account.chats : getBusinessAccount(account, business).chats;
}

function getUpdateKind({ business, guest }: PersonMessage, chat: ChatRecord): string {
  if (guest !== undefined) return 'guest_message';
  if (business !== undefined) return 'business_message';
  return chat.info.type === 'channel' ? 'channel_post' : 'message';
}

/** The topic or business chat in which a person writes. */
function buildSubChatFields(
  { subscriber, business, guest }: PersonMessage,
  chat: ChatRecord,
  from: WireUser,
): Partial<WireMessage> {
  if (guest !== undefined) return { guest_query_id: guest };
  if (business !== undefined) return { business_connection_id: business };
  if (subscriber === undefined) return {};
  const user = chat.subscribers.get(subscriber) ?? from;
  chat.subscribers.set(subscriber, user);
  chat.info = { ...chat.info, is_direct_messages: true };
  return { direct_messages_topic: { topic_id: subscriber, user }, chat: chat.info };
}

export function editAsAuthor(
  account: BotAccount,
  chatId: number,
  messageId: number,
  text: string,
  business?: string,
): void {
  const chats =
    business === undefined ? account.chats : getBusinessAccount(account, business).chats;
  const chat = chats.get(chatId);
  const old = chat?.messages.get(messageId);
  if (chat === undefined || old === undefined)
    throw new Error(`There is no message ${messageId} in chat ${chatId}.`);
  const edited = {
    ...old,
    ...(old.caption === undefined ? buildTextFields({ text }) : { caption: text }),
    edit_date: Math.floor(account.clock() / 1000),
  };
  chat.messages.set(messageId, edited);
  account.transcript.replace(edited);
  const kind = getUpdateKind({ chat: chatId, business }, chat);
  account.updates.push(`edited_${kind}`, edited);
}

/**
 * Deletes messages in a business chat as the customer or the owner; in other chats, the bot is not
 * notified of deletions.
 */
export function deleteBusinessChatMessages(
  account: BotAccount,
  connection: string,
  chatId: number,
  messageIds: readonly number[],
): void {
  const chat = getBusinessAccount(account, connection).chats.open({ id: chatId });
  for (const id of messageIds) {
    chat.messages.delete(id);
    account.transcript.remove(chatId, id, connection);
  }
  account.updates.push('deleted_business_messages', {
    business_connection_id: connection,
    chat: chat.info,
    message_ids: messageIds,
  });
}

export interface ButtonPress {
  readonly chat: number;
  readonly message: number;
  /** The number of an ephemeral message; `message` is then 0. */
  readonly ephemeral?: number | undefined;
  readonly label: string;
  readonly from?: number | IdentifiedObject | undefined;
  /**
   * Whether the message is inaccessible, in which case the update contains only its chat and id.
   */
  readonly inaccessible?: boolean | undefined;
}

export function pressButton(account: BotAccount, wish: ButtonPress): string {
  const chat = account.chats.get(wish.chat);
  const message =
    wish.ephemeral === undefined
      ? chat?.messages.get(wish.message)
      : chat?.ephemeral.get(wish.ephemeral);
  const button = message && listButtons(message).find(({ text }) => text === wish.label);
  if (chat === undefined || message === undefined || button === undefined) {
    throw new Error(
      `There is no button "${wish.label}" below message ${wish.message} of chat ${wish.chat}.`,
    );
  }
  const id = `${account.me.id}${account.queries.size + 1}`;
  const from = resolveAuthor({ chat: wish.chat, from: wish.from }, chat);
  account.queries.set(id, { pressedAt: account.clock(), from: from.id, answered: false });
  account.updates.push('callback_query', {
    id,
    from,
    message: wish.inaccessible
      ? { chat: chat.info, message_id: message.message_id, date: 0 }
      : message,
    chat_instance: String(chat.info.id),
    data: button.callback_data,
  });
  return id;
}

/**
 * Presses the stop button of the newest draft in a private chat and returns the id of the draft.
 * The update names only the chat, which identifies the person.
 */
export function stopDraft(account: BotAccount, chatId: number): number {
  const chat = account.chats.get(chatId);
  const draft = account.drafts.findLast((one) => one.chatId === chatId);
  if (chat === undefined || draft?.canStop !== true)
    throw new Error(`Chat ${chatId} shows no draft with a stop button.`);
  account.updates.push('stopped_message_generation', {
    chat: chat.info,
    ...(draft.threadId !== undefined && { message_thread_id: draft.threadId }),
    draft_id: draft.draftId,
  });
  return draft.draftId;
}

/** A person's reaction; the person may speak as a chat. */
export interface PersonReaction {
  readonly chat: number;
  readonly message: number;
  /**
   * All current reactions of this person: emoji, or `{ custom }` with the id of a custom emoji that
   * resembles `like`; an empty list removes them.
   */
  readonly emojis: readonly (string | { readonly custom: string; readonly like: string })[];
  readonly from?: number | IdentifiedObject | undefined;
  readonly as?: IdentifiedObject | undefined;
}

/**
 * Adds a person's reactions. The bot is notified in private chats and in groups where it is an
 * administrator. In channels, the bot would receive only counts.
 */
export function reactAsPerson(
  account: BotAccount,
  { chat: id, message, emojis, from, as }: PersonReaction,
): void {
  const chat = account.chats.get(id);
  if (!chat?.messages.has(message))
    throw new Error(`There is no message ${message} in chat ${id}.`);
  const user = resolveAuthor({ chat: id, from }, chat);
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

/** The old and the new chat receive a service message. */
export function migrateGroup(account: BotAccount, chatId: number): number {
  const old = account.chats.open({ id: chatId });
  const newId = -1_000_000_000_000 + chatId;
  const { title = 'Group' } = old.info;
  old.migratedTo = newId;
  sendPersonMessage(account, { chat: chatId, extra: { migrate_to_chat_id: newId } });
  sendPersonMessage(account, {
    chat: { id: newId, type: 'supergroup', title },
    extra: { migrate_from_chat_id: chatId },
  });
  return newId;
}

/** The default author. */
const SOMEBODY: WireUser = { id: 1001, is_bot: false, first_name: 'User 1001' };

export type ChatAccess = 'open' | 'blocked' | 'kicked' | 'muted';

/** Changes the bot's access to a chat and sends the bot a `my_chat_member` update. */
export function setBotAccess(account: BotAccount, chatId: number, access: ChatAccess): void {
  const chat = account.chats.open({ id: chatId });
  chat.closed = access === 'open' ? undefined : access;
  const member = (status: string) => ({
    user: account.me,
    status,
    ...(status === 'restricted' && { is_member: true, can_send_messages: false }),
  });
  const out = access === 'muted' ? 'restricted' : 'kicked';
  const [before, after] = access === 'open' ? ['kicked', 'member'] : ['member', out];
  account.updates.push('my_chat_member', {
    chat: chat.info,
    from: SOMEBODY,
    date: Math.floor(account.clock() / 1000),
    old_chat_member: member(before ?? 'member'),
    new_chat_member: member(after ?? 'member'),
  });
}

/** Closes or reopens a topic and sends a service message, or deletes the topic without one. */
export function setTopic(
  account: BotAccount,
  chatId: number,
  thread: number,
  state: 'open' | 'closed' | 'deleted',
): void {
  const chat = account.chats.open({ id: chatId });
  if (state === 'deleted') {
    chat.topics.delete(thread);
    return;
  }
  if (state === 'closed') chat.closedTopics.add(thread);
  else chat.closedTopics.delete(thread);
  const event = state === 'closed' ? 'forum_topic_closed' : 'forum_topic_reopened';
  sendPersonMessage(account, { chat: chatId, thread, extra: { [event]: {} } });
}

function resolveAuthor(saying: Pick<PersonMessage, 'chat' | 'from'>, chat: ChatRecord): WireUser {
  const fallback = chat.info.type === 'private' ? chat.info.id : SOMEBODY.id;
  const given =
    typeof saying.from === 'number' ? { id: saying.from } : (saying.from ?? { id: fallback });
  return { is_bot: false, first_name: `User ${given.id}`, language_code: 'en', ...given };
}

/**
 * A person who writes in the name of a chat is shown as that chat, next to a fixed placeholder
 * user.
 */
function buildSenderFields(
  saying: PersonMessage,
  chat: ChatRecord,
  from: WireUser,
): Partial<WireMessage> {
  if (chat.info.type === 'channel') return { sender_chat: chat.info };
  if (saying.as === undefined) return { from };
  const anonymous = saying.as.id === chat.info.id;
  const stand = anonymous
    ? { id: 1_087_968_824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' }
    : { id: 136_817_688, is_bot: true, first_name: 'Channel', username: 'Channel_Bot' };
  return { from: stand, sender_chat: anonymous ? chat.info : { type: 'channel', ...saying.as } };
}

function buildContent(account: BotAccount, saying: PersonMessage): Partial<WireMessage> {
  const { text, entities } = buildTextFields(saying);
  const album = saying.album === undefined ? {} : { media_group_id: saying.album };
  if (saying.file === undefined) return buildTextFields(saying);
  return {
    ...account.files.store(saying.file),
    ...(text === undefined ? {} : { caption: text }),
    ...(entities === undefined ? {} : { caption_entities: entities }),
    ...album,
  };
}

function buildTextFields({
  text,
  entities,
}: Pick<PersonMessage, 'text' | 'entities'>): Partial<WireMessage> {
  if (text === undefined) return {};
  const found = entities ?? findEntities(text);
  return found.length === 0 ? { text } : { text, entities: found };
}

/**
 * Every message of a topic is a reply to the topic's first message unless it is a reply to another
 * message.
 */
function buildLocationFields(saying: PersonMessage, chat: ChatRecord): Partial<WireMessage> {
  const { thread, replyTo } = saying;
  const place = thread === undefined ? {} : { message_thread_id: thread, is_topic_message: true };
  const answered = chat.messages.get(replyTo ?? thread ?? 0);
  if (replyTo !== undefined && answered === undefined) {
    throw new Error(`There is no message ${replyTo} in chat ${chat.info.id} to reply to.`);
  }
  if (answered === undefined) return place;
  const { reply_to_message: _nested, ...quoted } = answered;
  return { ...place, reply_to_message: quoted };
}

function openTopic(chat: ChatRecord, thread: number): void {
  if (chat.topics.has(thread)) return;
  chat.topics.add(thread);
  chat.info = { ...chat.info, is_forum: true };
  chat.messages.set(thread, {
    message_id: thread,
    date: 0,
    chat: chat.info,
    from: SOMEBODY,
    message_thread_id: thread,
    is_topic_message: true,
    forum_topic_created: { name: `Topic ${thread}`, icon_color: 7322096 },
  });
}

function findEntities(text: string): HtmlEntity[] {
  const kinds: [string, RegExp][] = [
    ['bot_command', /(?<![\w/])\/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?/g],
    ['mention', /(?<![\w/])@[A-Za-z0-9_]{3,32}/g],
    ['url', /https?:\/\/[^\s<>]+/g],
  ];
  const found = kinds.flatMap(([type, pattern]) =>
    [...text.matchAll(pattern)].map((match) => ({
      type,
      offset: match.index,
      length: match[0].length,
    })),
  );
  return found.sort((a, b) => a.offset - b.offset);
}
