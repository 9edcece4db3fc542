import { INTENT } from './intents.ts';
import type { Json } from './wire.ts';
import type { WorldEvent } from './world.ts';

/**
 * A message event as a bot with these intents gets it. Without the message content intent the content is
 * empty, except in direct messages, in the bot's own messages and where the bot is mentioned.
 */
export function forIntents(event: WorldEvent, intents: number, botId: string): Json {
  const { data } = event;
  const isMessage = event.name === 'MESSAGE_CREATE' || event.name === 'MESSAGE_UPDATE';
  if (!isMessage || event.guildId === undefined || (intents & INTENT.content) !== 0) return data;
  return hideContent(data, botId);
}

/** One message of a guild without what the intent protects. */
export function hideContent(message: Json, botId: string): Json {
  const quoted = message.referenced_message;
  const inner = isObject(quoted) ? { referenced_message: hideContent(quoted, botId) } : {};
  const mentions = message.mentions;
  const mentioned = Array.isArray(mentions) && mentions.some((user) => idOf(user) === botId);
  if (mentioned || idOf(message.author) === botId) return { ...message, ...inner };
  return { ...message, ...inner, content: '', embeds: [], attachments: [], components: [] };
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function idOf(value: unknown): unknown {
  return isObject(value) ? value.id : undefined;
}
