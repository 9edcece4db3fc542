import type { InboundMessage } from '@parley/core';
import { PermissionFlagsBits, PermissionsBitField } from 'discord.js';
import { toCallFailure } from './failures.ts';
import type { FindChatDetails } from './places.ts';
import type { IncludedChannel, WireInteraction } from './wire-interaction.ts';

/** Interaction contexts: direct messages with the bot, and other people's private channels. */
const [BOT_DIRECT, PRIVATE] = [1, 2];
/** The channel type of a private group chat. */
const GROUP_DIRECT = 3;

/**
 * The chat in which an interaction took place. If `isBound` is true, the bot cannot write there, so
 * it can only respond to interactions.
 */
export interface InteractionLocation {
  readonly chat: InboundMessage['chat'];
  readonly isBound: boolean;
}

/** Whether people other than the sender can read what is shown there. */
export function isSharedChat({ guild_id, context }: WireInteraction): boolean {
  return guild_id !== undefined || context !== BOT_DIRECT;
}

/**
 * Finds the chat in which a command was used or a button was pressed. A person who has added the
 * app to their account can use it in servers without the bot and in chats with other people. The
 * bot cannot request such channels, so the interaction's own data is used. Such a chat never counts
 * as the sender's direct chat, because others can read it (W02).
 */
export async function findInteractionLocation(
  interaction: WireInteraction & { readonly channel_id: string },
  findPlace: FindChatDetails,
): Promise<InteractionLocation> {
  const { channel, channel_id: id, context, guild_id } = interaction;
  if (guild_id === undefined && (context === PRIVATE || channel?.type === GROUP_DIRECT))
    return createPrivateLocation(id, channel);
  try {
    // Without a context, the interaction does not show to which direct chat it belongs.
    const isTold = guild_id !== undefined || context === BOT_DIRECT;
    const brought = isTold && channel !== undefined ? { ...channel, guild_id } : undefined;
    const { chat, isMember = true } = await findPlace(id, brought);
    return {
      chat,
      isBound: guild_id !== undefined && !(isMember && canWriteInChannel(interaction, chat)),
    };
  } catch (thrown) {
    const failure = toCallFailure(thrown);
    if (failure.kind !== 'refused' || !NOT_THERE.has(failure.status)) throw thrown;
    return createPrivateLocation(id, channel);
  }
}

/**
 * Whether the bot may write in the channel. Discord sends the bot's permissions with each
 * interaction in a server.
 */
function canWriteInChannel(
  { app_permissions }: WireInteraction,
  { type }: InboundMessage['chat'],
): boolean {
  if (app_permissions === undefined) return true;
  const { ViewChannel, SendMessages, SendMessagesInThreads } = PermissionFlagsBits;
  const send = type === 'thread' ? SendMessagesInThreads : SendMessages;
  return new PermissionsBitField(BigInt(app_permissions)).has(ViewChannel | send);
}

/**
 * HTTP statuses that mean that the bot may not see the channel, or that the channel does not exist
 * for the bot.
 */
const NOT_THERE: ReadonlySet<number> = new Set([403, 404]);

function createPrivateLocation(
  id: string,
  channel: IncludedChannel | undefined,
): InteractionLocation {
  const people = channel?.recipients?.map(({ global_name, username }) => global_name ?? username);
  const title = channel?.name ?? (people && `Direct messages with ${people.join(', ')}`);
  return { chat: { id, type: 'group', ...(title && { title }) }, isBound: true };
}
