import { type CommandInfo, parseCommand } from '@parley/channels';
import type { Attachment, Authored, InboundMessage } from '@parley/core';
import { z } from 'zod';
import { aloneResponse, messageIdOf } from './ephemeral.ts';
import { topicId } from './format.ts';
import { menuName } from './settings.ts';
import type {
  BotIdentity,
  DescribedFile,
  Entity,
  mediaFields,
  PhotoSize,
  Sticker,
  WireChat,
  WireMessage,
  WireUser,
} from './wire.ts';

/** Turns a Telegram message into what the core knows of it (F01). */
export function toInbound(
  message: WireMessage,
  account: string,
  me: BotIdentity,
  commands: readonly CommandInfo[] = [],
): InboundMessage {
  const { text, mentions, addressed } = addressOf(message, me, commands);
  const attachments = attachmentsOf(message);
  return {
    channel: 'telegram',
    account,
    messageId: messageIdOf(message),
    chat: chatOf(message),
    sender: senderOf(message, me),
    text: withOrigin(text || spokenContent(message) || unreadContent(message), message),
    authored: authoredIn(message, me),
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(message.media_group_id === undefined ? {} : { albumId: message.media_group_id }),
    ...replyOf(message),
    ...aloneResponse(message, message.from),
    mentions: [...mentions],
    addressed,
    sentAt: message.date * 1000,
    variables: {},
  };
}

/** A place as the core knows it; a message and a press both have one. */
type Place = Pick<WireMessage, 'chat' | 'is_topic_message' | 'message_thread_id'>;

/** The chat, and its topic. Outside forums `message_thread_id` merely groups replies: no thread. */
export function chatOf({ chat, ...place }: Place): InboundMessage['chat'] {
  const topic = place.is_topic_message === true ? topicId(place.message_thread_id) : undefined;
  return {
    id: String(chat.id),
    type: chatTypeOf(chat.type, topic !== undefined),
    ...(chat.title === undefined ? {} : { title: chat.title }),
    ...(topic === undefined ? {} : { threadId: topic }),
  };
}

function chatTypeOf(
  type: WireMessage['chat']['type'],
  inTopic: boolean,
): InboundMessage['chat']['type'] {
  if (type === 'private') return 'direct';
  if (type === 'channel') return 'channel';
  return inTopic ? 'thread' : 'group';
}

/** Names the author of forwarded text, so that it does not pass for the sender's own, or for a command. */
function withOrigin(text: string, { forward_origin }: WireMessage): string {
  if (forward_origin === undefined || text === '') return text;
  const { sender_user, sender_user_name, sender_chat, chat } = forward_origin;
  const names = [
    sender_user && personOf(sender_user).name,
    sender_user_name,
    (sender_chat ?? chat)?.title,
  ];
  return `[Forwarded from ${names.find(Boolean) ?? 'somebody'}]\n${text}`;
}

function replyOf(message: WireMessage): Pick<InboundMessage, 'replyTo'> {
  const answered = answeredMessage(message);
  if (answered === undefined) return {};
  const text = message.quote?.text ?? answered.text ?? answered.caption;
  return {
    replyTo: {
      messageId: messageIdOf(answered),
      ...(answered.from === undefined ? {} : { senderId: String(answered.from.id) }),
      ...(text === undefined ? {} : { text }),
    },
  };
}

/**
 * What the sender typed or spoke. A message that is passed on, or that a bot wrote in their name, holds nothing of theirs;
 * contacts, places, polls and the like are texts that nobody typed in this chat.
 */
function authoredIn(message: WireMessage, me: BotIdentity): Authored {
  const answered = answeredMessage(message);
  const isQuoteKnown = answered !== undefined && isQuoteOfTheirs(message, answered, me);
  const quote = isQuoteKnown ? { quote: true as const } : {};
  if (BY_OTHERS.some((field) => field in message)) return quote;
  const { text, entities } = textOf(message);
  return {
    ...(text !== '' && !isQuotation(text, entities) && { text: true }),
    ...(message.voice !== undefined && { voice: true }),
    ...quote,
  };
}

/** Whether all of a text is marked as a quotation, which is what somebody else wrote. */
function isQuotation(text: string, entities: readonly Entity[]): boolean {
  const quotations = entities.filter(({ type }) => /^(?:expandable_)?blockquote$/.test(type));
  const own = quotations
    .toSorted((a, b) => b.offset - a.offset)
    .reduce((rest, { offset, length }) => {
      return rest.slice(0, offset) + rest.slice(offset + length);
    }, text);
  return quotations.length > 0 && own.trim() === '';
}

/** A message with one of these was written by another person, or by a bot in the name of its sender. */
const BY_OTHERS: readonly string[] = [
  'forward_origin',
  'via_bot',
  'sender_business_bot',
  'is_automatic_forward',
  // Set before 2023 instead of `forward_origin`, and still by servers of that time.
  'forward_date',
];

/** Their own words, or in a direct chat those of this bot. */
function isQuoteOfTheirs(
  { from, sender_chat, chat }: WireMessage,
  answered: NonNullable<WireMessage['reply_to_message']>,
  me: BotIdentity,
): boolean {
  if (BY_OTHERS.some((field) => field in answered)) return false;
  const writer = answered.sender_chat?.id ?? answered.from?.id;
  if (writer === undefined) return false;
  return writer === (sender_chat?.id ?? from?.id) || (chat.type === 'private' && writer === me.id);
}

type Sender = InboundMessage['sender'];

/** What people send that has neither text nor a file, by its field. */
const UNREAD: Readonly<Record<string, string>> = {
  story: 'a story',
  game: 'a game',
  invoice: 'an invoice',
  checklist: 'a checklist',
  paid_media: 'paid media',
};

/** A person in a private chat waits for an answer, whatever they sent; in groups it means nobody. */
function unreadContent(message: WireMessage): string {
  const isService = Object.keys(message).some((field) => SERVICE.test(field));
  if (message.chat.type !== 'private' || isService || attachmentsOf(message).length > 0) return '';
  const field = Object.keys(UNREAD).find((name) => name in message);
  const what = field === undefined ? 'something' : UNREAD[field];
  return `[They sent ${what}, which cannot be read here. Say so, and ask for text, a picture or a file.]`;
}

/** What the platform writes about a chat rather than a person in it; such messages carry one of these. */
const SERVICE =
  /^(?:new_chat_|left_chat_|delete_chat_|(?:super)?group_chat_created|channel_chat_created|message_auto_delete_|migrate_|pinned_message|forum_topic_|general_forum_topic_|video_chat_|boost_added|chat_background_|chat_shared|chat_owner_|users_shared|write_access_|proximity_alert_|giveaway|gift|unique_gift|checklist_tasks_|direct_message_price|paid_message_price|suggested_post_(?!info)|successful_payment|refunded_payment|connected_website|web_app_data|passport_data)/;

/**
 * Who wrote. An anonymous administrator, a person who speaks as their channel and the author of a
 * post are people of whom only the chat is known, and count as that chat. What the platform says,
 * what a channel forwards by itself and what came through this bot has no author (F07).
 */
function senderOf(message: WireMessage, me: BotIdentity): Sender {
  const { from, sender_chat, chat, author_signature } = message;
  const hasNoAuthor =
    Object.keys(message).some((field) => SERVICE.test(field)) ||
    message.is_automatic_forward === true ||
    message.via_bot?.id === me.id;
  if (sender_chat === undefined && from !== undefined) {
    const person = personOf(from);
    return { ...person, isBot: person.isBot || hasNoAuthor };
  }
  const sender = chatSender(sender_chat ?? chat);
  return { ...sender, name: author_signature ?? sender.name, isBot: hasNoAuthor };
}

/** A person of whom only the chat is known that they speak as. */
export function chatSender({ id, title = '' }: WireChat): Sender {
  return { id: String(id), name: title, isBot: false };
}

/** A user as the core knows people. */
export function personOf(user: WireUser): Sender {
  const { id, first_name, last_name, username, is_bot } = user;
  return {
    id: String(id),
    name: [first_name, last_name].filter(Boolean).join(' '),
    ...(username === undefined ? {} : { username }),
    isBot: is_bot,
  };
}

/** Whom a message names, and its text as the core reads it. */
export interface Address {
  /** The text, without the bot's own name behind a leading command. */
  readonly text: string;
  /** Ids of the users it mentions; usernames of others cannot be resolved and are left out. */
  readonly mentions: readonly string[];
  /** The bot is meant (F06): direct chat, mention, reply, or a command of its own. */
  readonly addressed: boolean;
}

/**
 * Decides whether a message is meant for the bot. A command with another bot's name is not, even as
 * a reply. In a topic every message "replies" to the topic's first one, which counts for nothing.
 */
export function addressOf(
  message: WireMessage,
  me: BotIdentity,
  commands: readonly CommandInfo[] = [],
): Address {
  const { text, entities } = textOf(message);
  const mentions = [...new Set(entities.flatMap((entity) => mentionedId(text, entity, me)))];
  const command = leadingCommand(text, entities, ownMention(text, entities, me));
  // An ephemeral message is seen by the bot alone, so nobody else can be meant.
  const direct = message.chat.type === 'private' || message.ephemeral_message_id !== undefined;
  // Forwarded text was meant for other people, also where it mentions the bot.
  const forwarded = message.forward_origin !== undefined;
  const forOther = command?.bot !== undefined && !sameName(command.bot, me.username);
  // Where a group has one bot only, Telegram's menu sends its commands without a name.
  const own = command && ownName(command.word, commands);
  const forMe = command !== undefined && !forOther && (command.bot ?? own) !== undefined;
  const replied = answeredMessage(message)?.from?.id === me.id;
  const named = mentions.includes(String(me.id));
  return {
    text: forMe ? `/${own ?? command.word}${text.slice(command.end)}` : text,
    mentions,
    addressed: direct || (!forwarded && !forOther && (forMe || replied || named)),
  };
}

/** The text of a message, or the caption below a picture or file. */
function textOf(message: WireMessage): { text: string; entities: readonly Entity[] } {
  if (message.text !== undefined) return { text: message.text, entities: message.entities };
  return { text: message.caption ?? '', entities: message.caption_entities };
}

/** The message this one answers, if a person chose it. */
function answeredMessage(message: WireMessage): WireMessage['reply_to_message'] {
  const answered = message.reply_to_message;
  const isTopicStart =
    message.is_topic_message === true && answered?.message_id === message.message_thread_id;
  return isTopicStart ? undefined : answered;
}

function mentionedId(text: string, entity: Entity, me: BotIdentity): string[] {
  if (entity.type === 'text_mention' && entity.user) return [String(entity.user.id)];
  const named =
    entity.type === 'mention' && sameName(entityText(text, entity).slice(1), me.username);
  return named ? [String(me.id)] : [];
}

interface LeadingCommand {
  readonly word: string;
  readonly bot: string | undefined;
  /** Where all that Telegram marks as the command ends. */
  readonly end: number;
}

/** A command at the beginning, or behind the mention of this bot that groups need. */
function leadingCommand(
  text: string,
  entities: readonly Entity[],
  start: number,
): LeadingCommand | undefined {
  const entity =
    entities.find(({ type, offset }) => type === 'bot_command' && offset === start) ??
    wideCommand(text, start);
  if (entity === undefined) return undefined;
  const [word = '', bot] = entityText(text, entity).slice(1).split('@');
  return { word, bot, end: entity.offset + entity.length };
}

/** Telegram does not mark a command with the full-width slash of Chinese and Japanese keyboards. */
function wideCommand(text: string, start: number): Pick<Entity, 'offset' | 'length'> | undefined {
  const found = /^／[a-z0-9_]{1,32}(?:@[a-z0-9_]{4,32})?(?![\w@])/i.exec(text.slice(start))?.[0];
  return found === undefined ? undefined : { offset: start, length: found.length };
}

/** Where the text behind a leading mention of this bot starts; 0 without one. */
function ownMention(text: string, entities: readonly Entity[], me: BotIdentity): number {
  const mention = entities.find(
    (entity) => entity.offset === 0 && mentionedId(text, entity, me).includes(String(me.id)),
  );
  if (mention === undefined) return 0;
  const behind = text.slice(mention.length);
  return mention.length + (behind.length - behind.trimStart().length);
}

/** The command as the core calls it; undefined if it is no command of this bot. */
function ownName(word: string, commands: readonly CommandInfo[]): string | undefined {
  if (parseCommand(`/${word}`) !== null) return word;
  return commands.find(({ name }) => sameName(menuName(name), word))?.name;
}

function entityText(text: string, { offset, length }: Pick<Entity, 'offset' | 'length'>): string {
  return text.slice(offset, offset + length);
}

function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/**
 * The files of a message; `ref` is Telegram's file id, which this bot can use at any time. Where a
 * message has none, those of the one it answers: "what is this?" below a picture means the picture.
 */
export function attachmentsOf(message: WireMessage): Attachment[] {
  const own = filesOf(message);
  const answered = answeredMessage(message);
  return own.length > 0 || answered === undefined ? own : filesOf(answered);
}

function filesOf(message: Pick<WireMessage, keyof typeof mediaFields>): Attachment[] {
  const { photo = [], voice, audio, video, video_note, animation, document, sticker } = message;
  const largest = largestOf(photo);
  if (largest) return [fileOf('image', { ...largest, mime_type: 'image/jpeg' })];
  if (voice) return [fileOf('voice', voice, 'audio/ogg')];
  if (audio) return [fileOf('audio', audio)];
  // An animation also fills `document`, for programs that know no animations.
  const moving = video ?? video_note ?? animation;
  if (moving) return [fileOf('video', moving, 'video/mp4')];
  if (document) return [fileOf('document', document)];
  // Its emoji is the nearest thing to a name.
  const named = sticker && {
    ...sticker,
    file_name: sticker.emoji,
    mime_type: stickerType(sticker),
  };
  return named ? [fileOf('sticker', named)] : [];
}

function largestOf(sizes: readonly PhotoSize[]): PhotoSize | undefined {
  return sizes.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
}

function fileOf(kind: Attachment['kind'], file: DescribedFile, usualType?: string): Attachment {
  const { file_id, file_name, file_size, mime_type = usualType } = file;
  return {
    kind,
    ref: file_id,
    ...(file_name === undefined ? {} : { name: file_name }),
    ...(mime_type === undefined ? {} : { mimeType: mime_type }),
    ...(file_size === undefined ? {} : { size: file_size }),
  };
}

function stickerType({ is_animated, is_video }: Sticker): string {
  if (is_animated) return 'application/x-tgsticker';
  return is_video ? 'video/webm' : 'image/webp';
}

const Point = z.object({ latitude: z.number(), longitude: z.number() });
const Content = z.object({
  venue: z.object({ title: z.string(), address: z.string(), location: Point }).optional(),
  location: Point.optional(),
  contact: z
    .object({
      phone_number: z.string(),
      first_name: z.string(),
      last_name: z.string().optional(),
    })
    .optional(),
  poll: z
    .object({ question: z.string(), options: z.array(z.object({ text: z.string() })) })
    .optional(),
  dice: z.object({ emoji: z.string(), value: z.int() }).optional(),
});

/**
 * Places, contacts, polls and dice as text: the sender expects an answer, and a message without text
 * would get none. Empty for everything else.
 */
export function spokenContent(message: object): string {
  const content = Content.safeParse(message);
  if (!content.success) return '';
  // A venue is a location too.
  const { venue, location, contact, poll, dice } = content.data;
  if (venue) return `[Place: ${venue.title}, ${venue.address} (${coordinates(venue.location)})]`;
  if (location) return `[Location: ${coordinates(location)}]`;
  if (contact) return `[Contact: ${nameOf(contact)}, ${contact.phone_number}]`;
  if (poll) return `[Poll: ${poll.question} ${poll.options.map(({ text }) => text).join(' / ')}]`;
  return dice ? `[${dice.emoji} shows ${dice.value}]` : '';
}

function coordinates({ latitude, longitude }: z.infer<typeof Point>): string {
  return `${latitude}, ${longitude}`;
}

function nameOf({ first_name, last_name }: { first_name: string; last_name?: string | undefined }) {
  return [first_name, last_name].filter(Boolean).join(' ');
}
