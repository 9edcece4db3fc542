import type { InboundMessage } from '@parley/core';
import { PermissionFlagsBits, PermissionsBitField } from 'discord.js';
import { callFailureOf } from './failures.ts';
import type { FindPlace } from './places.ts';
import type { BroughtChannel, WireInteraction } from './wire-interaction.ts';

/** Direct messages with the bot, and private channels of other people. */
const [BOT_DIRECT, PRIVATE] = [1, 2];
/** A group of friends. */
const GROUP_DIRECT = 3;

/** The chat of an interaction. `isBound`: the bot cannot write there, so only answers to interactions reach it. */
export interface InteractionLocation {
  readonly chat: InboundMessage['chat'];
  readonly isBound: boolean;
}

/** Whether people other than the sender may read what is shown there. */
export function isSharedPlace({ guild_id, context }: WireInteraction): boolean {
  return guild_id !== undefined || context !== BOT_DIRECT;
}

/**
 * The place where a command was used or a button pressed. A person can bring the app along on their account, to
 * servers where the bot is no member and to chats of other people: the bot cannot ask about these, so what the
 * interaction says itself counts. Such a chat is never the direct chat of its sender, because others read along
 * (W02).
 */
export async function placeOfInteraction(
  interaction: WireInteraction & { readonly channel_id: string },
  findPlace: FindPlace,
): Promise<InteractionLocation> {
  const { channel, channel_id: id, context, guild_id } = interaction;
  if (guild_id === undefined && (context === PRIVATE || channel?.type === GROUP_DIRECT))
    return privatePlace(id, channel);
  try {
    // Without a context the interaction does not say whose direct messages these are.
    const isTold = guild_id !== undefined || context === BOT_DIRECT;
    const brought = isTold && channel !== undefined ? { ...channel, guild_id } : undefined;
    const { chat, isMember = true } = await findPlace(id, brought);
    return { chat, isBound: guild_id !== undefined && !(isMember && mayWrite(interaction, chat)) };
  } catch (thrown) {
    const failure = callFailureOf(thrown);
    if (failure.kind !== 'refused' || !NOT_THERE.has(failure.status)) throw thrown;
    return privatePlace(id, channel);
  }
}

/** Discord says with each interaction of a server what the bot may do in the channel. */
function mayWrite({ app_permissions }: WireInteraction, { type }: InboundMessage['chat']): boolean {
  if (app_permissions === undefined) return true;
  const { ViewChannel, SendMessages, SendMessagesInThreads } = PermissionFlagsBits;
  const send = type === 'thread' ? SendMessagesInThreads : SendMessages;
  return new PermissionsBitField(BigInt(app_permissions)).has(ViewChannel | send);
}

/** The bot may not see the channel, or it does not exist for the bot. */
const NOT_THERE: ReadonlySet<number> = new Set([403, 404]);

function privatePlace(id: string, channel: BroughtChannel | undefined): InteractionLocation {
  const people = channel?.recipients?.map(({ global_name, username }) => global_name ?? username);
  const title = channel?.name ?? (people && `Direct messages with ${people.join(', ')}`);
  return { chat: { id, type: 'group', ...(title && { title }) }, isBound: true };
}
