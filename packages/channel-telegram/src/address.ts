import { type CommandInfo, parseCommand } from '@parley/channels';
import { getMessageLocation } from './places.ts';
import type { ParsedMessage } from './read-message.ts';
import { listRichTextMentions } from './rich-text.ts';
import { toMenuName } from './settings.ts';
import { getMessageText } from './shown.ts';
import { parsePersonLink, spellOutHiddenTargets } from './text.ts';
import type { BotIdentity, WireMessage } from './wire.ts';
import type { MessageEntity } from './wire-basics.ts';

/** The addressees of a message, and its text as the core reads it. */
export interface AddressingResult {
  /** The text, without the bot's own name in a leading command. */
  readonly text: string;
  /** The ids of mentioned users; mentions by username cannot be resolved and are left out. */
  readonly mentions: readonly string[];
  /**
   * Whether a message addresses the bot (F06): a direct chat, a mention, a reply, or one of the
   * bot's commands.
   */
  readonly addressed: boolean;
}

/**
 * Decides whether a message is addressed to the bot. A command with another bot's name never
 * addresses this bot, even as a reply. In a topic every message "replies" to the topic's first one,
 * so such a reply does not count.
 */
export function resolveAddressing(
  { message, answered, origin, shown }: ParsedMessage,
  me: BotIdentity,
  commands: readonly CommandInfo[] = [],
): AddressingResult {
  const words = getMessageText(message);
  const { text, entities } = words;
  const mentions = [
    ...new Set([
      ...entities.flatMap((entity) => listMentionedIds(text, entity, me)),
      ...listMentionedInRichMessage(message, me),
    ]),
  ];
  const command = findLeadingCommand(text, entities, skipBotMention(text, entities, me));
  // Forwarded text was meant for other people, even if it mentions the bot.
  const forwarded = origin !== undefined;
  const forOther = command?.bot !== undefined && !isSameName(command.bot, me.username);
  // In a group with only one bot, Telegram's menu sends commands without a bot name.
  const own = command && findCommandName(command.word, commands);
  const forMe = command !== undefined && !forOther && (command.bot ?? own) !== undefined;
  const replied = answered?.from?.id === me.id;
  const named = mentions.includes(String(me.id));
  return {
    text: forMe
      ? `/${own ?? command.word}${spellOutHiddenTargets(words, command.end, me)}`
      : shown.words,
    mentions,
    addressed: isForBot(message) || (!forwarded && !forOther && (forMe || replied || named)),
  };
}

/**
 * Whether everything the sender writes in a chat is addressed to the bot. True for subscribers and
 * customers, but not for the channel or account on whose behalf the bot answers, because its own
 * people also write there.
 */
function isForBot(message: WireMessage): boolean {
  const { chat, from, sender_chat, direct_messages_topic: topic } = message;
  // Only the bot sees an ephemeral message, so it cannot be addressed to anyone else.
  if (message.ephemeral_message_id !== undefined) return true;
  if (sender_chat !== undefined && sender_chat.id !== from?.id) return false;
  switch (getMessageLocation(message).kind) {
    case 'business':
      return from?.id === chat.id;
    case 'subscriber':
      return topic?.user === undefined || from?.id === topic.user.id;
    case 'guest':
      return true;
    default:
      return chat.type === 'private';
  }
}

function listMentionedIds(text: string, entity: MessageEntity, me: BotIdentity): string[] {
  if (entity.type === 'text_mention' && entity.user) return [String(entity.user.id)];
  if (entity.type === 'text_link') return [parsePersonLink(entity.url) ?? []].flat();
  const named =
    entity.type === 'mention' && isSameName(getEntityText(text, entity).slice(1), me.username);
  return named ? [String(me.id)] : [];
}

function listMentionedInRichMessage(
  { rich_message: rich }: WireMessage,
  me: BotIdentity,
): string[] {
  return listRichTextMentions(rich).flatMap(({ id, name = '' }) => {
    if (id !== undefined) return [String(id)];
    return isSameName(name.replace(/^@/, ''), me.username) ? [String(me.id)] : [];
  });
}

interface LeadingCommand {
  readonly word: string;
  readonly bot: string | undefined;
  /** The end offset of the text that Telegram marks as a command. */
  readonly end: number;
}

/** A command at the beginning, or after a leading mention of this bot, which groups require. */
function findLeadingCommand(
  text: string,
  entities: readonly MessageEntity[],
  start: number,
): LeadingCommand | undefined {
  const entity =
    entities.find(({ type, offset }) => type === 'bot_command' && offset === start) ??
    findFullWidthCommand(text, start);
  if (entity === undefined) return undefined;
  const [word = '', bot] = getEntityText(text, entity).slice(1).split('@');
  return { word, bot, end: entity.offset + entity.length };
}

/**
 * Telegram does not recognize a command that starts with the full-width slash of Chinese and
 * Japanese keyboards.
 */
function findFullWidthCommand(
  text: string,
  start: number,
): Pick<MessageEntity, 'offset' | 'length'> | undefined {
  const found = /^／[a-z0-9_]{1,32}(?:@[a-z0-9_]{4,32})?(?![\w@])/i.exec(text.slice(start))?.[0];
  return found === undefined ? undefined : { offset: start, length: found.length };
}

/** The start of the text after a leading mention of the bot; 0 if there is none. */
function skipBotMention(text: string, entities: readonly MessageEntity[], me: BotIdentity): number {
  const mention = entities.find(
    (entity) => entity.offset === 0 && listMentionedIds(text, entity, me).includes(String(me.id)),
  );
  if (mention === undefined) return 0;
  const behind = text.slice(mention.length);
  return mention.length + (behind.length - behind.trimStart().length);
}

/**
 * The name under which the core registers the command; undefined if the bot has no such command.
 */
function findCommandName(word: string, commands: readonly CommandInfo[]): string | undefined {
  if (parseCommand(`/${word}`) !== null) return word;
  return commands.find(({ name }) => isSameName(toMenuName(name), word))?.name;
}

function getEntityText(
  text: string,
  { offset, length }: Pick<MessageEntity, 'offset' | 'length'>,
): string {
  return text.slice(offset, offset + length);
}

function isSameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
