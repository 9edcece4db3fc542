import { parseDiscordMarkdown } from './parse-markdown.ts';
import type { WireAttachment, WireMessage, WireReaction } from './wire.ts';
import type { World } from './world.ts';

/** A message as people in the channel see it now. */
export interface VisibleMessage {
  readonly id: string;
  readonly from: 'bot' | string;
  /** The source as it was sent. */
  readonly content: string;
  /** What people see of it. */
  readonly visible: string;
  readonly edited: boolean;
  readonly replyTo?: string;
  readonly attachments: readonly WireAttachment[];
  readonly reactions: readonly WireReaction[];
  readonly message: WireMessage;
}

/** What people see in a channel, thread or direct message now, oldest first. */
export function conversationIn(world: World, channelId: string): VisibleMessage[] {
  return [...world.channel(channelId).messages.values()].map((message) => seen(world, message));
}

/** One message as people see it. */
export function seen(world: World, message: WireMessage): VisibleMessage {
  const replyTo = message.message_reference?.message_id;
  return {
    id: message.id,
    from: message.author.id === world.bot.id ? 'bot' : message.author.id,
    content: message.content,
    visible: parseDiscordMarkdown(message.content).visible,
    edited: message.edited_timestamp !== null,
    ...(replyTo === undefined ? {} : { replyTo }),
    attachments: message.attachments,
    reactions: message.reactions ?? [],
    message,
  };
}
