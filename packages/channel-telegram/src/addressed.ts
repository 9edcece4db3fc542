import { type CommandInfo, parseCommand } from '@parley/channels';
import { menuName } from './menu.ts';
import type { BotIdentity, Entity, WireMessage } from './wire-message.ts';

/** Whom a message names, and its words as the core reads them. */
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
  const command = leadingCommand(text, entities);
  const direct = message.chat.type === 'private';
  // Forwarded words were meant for somebody else, whoever they name.
  const forwarded = message.forward_origin !== undefined;
  const forOther = command?.bot !== undefined && !sameName(command.bot, me.username);
  // Where a group has one bot only, Telegram's menu sends its commands without a name.
  const own = command && ownName(command.word, commands);
  const forMe = command !== undefined && !forOther && (command.bot ?? own) !== undefined;
  const replied = answeredMessage(message)?.from?.id === me.id;
  const named = mentions.includes(String(me.id));
  return {
    text: forMe ? `/${own ?? command.word}${text.slice(command.length)}` : text,
    mentions,
    addressed: direct || (!forwarded && !forOther && (forMe || replied || named)),
  };
}

/** The words of a message: its text, or the caption below a picture or file. */
function textOf(message: WireMessage): { text: string; entities: readonly Entity[] } {
  if (message.text !== undefined) return { text: message.text, entities: message.entities };
  return { text: message.caption ?? '', entities: message.caption_entities };
}

/** The message this one answers, if a person chose it. */
export function answeredMessage(message: WireMessage): WireMessage['reply_to_message'] {
  const answered = message.reply_to_message;
  const isTopicStart =
    message.is_topic_message === true && answered?.message_id === message.message_thread_id;
  return isTopicStart ? undefined : answered;
}

function mentionedId(text: string, entity: Entity, me: BotIdentity): string[] {
  if (entity.type === 'text_mention' && entity.user) return [String(entity.user.id)];
  const named = entity.type === 'mention' && sameName(wordsOf(text, entity).slice(1), me.username);
  return named ? [String(me.id)] : [];
}

interface LeadingCommand {
  readonly word: string;
  readonly bot: string | undefined;
  /** Of all that Telegram marks as the command. */
  readonly length: number;
}

function leadingCommand(text: string, entities: readonly Entity[]): LeadingCommand | undefined {
  const entity = entities.find(({ type, offset }) => type === 'bot_command' && offset === 0);
  if (entity === undefined) return undefined;
  const [word = '', bot] = wordsOf(text, entity).slice(1).split('@');
  return { word, bot, length: entity.length };
}

/** The command as the core calls it; undefined when it is nobody's here. */
function ownName(word: string, commands: readonly CommandInfo[]): string | undefined {
  if (parseCommand(`/${word}`) !== null) return word;
  return commands.find(({ name }) => sameName(menuName(name), word))?.name;
}

function wordsOf(text: string, { offset, length }: Entity): string {
  return text.slice(offset, offset + length);
}

function sameName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
