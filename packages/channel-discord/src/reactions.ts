import type { ChannelContext } from '@parley/channels';
import { BoundedMap, type InboundReaction } from '@parley/core';
import type { DiscordApi } from './api.ts';
import { toSender } from './content.ts';
import { toCallFailure } from './failures.ts';
import type { FindChatDetails } from './places.ts';
import { WireClearedReactions, WireReaction, type WireUser } from './wire.ts';

interface ReactionDeps extends Pick<ChannelContext<unknown>, 'account' | 'reacted' | 'clock'> {
  readonly api: Pick<DiscordApi, 'user'>;
  readonly findPlace: FindChatDetails;
  readonly me: () => string | undefined;
}

/**
 * The maximum number of reactions and people in memory. After an entry is evicted, only later
 * reaction events are known.
 */
const MAX_REACTIONS = 2_000;
const MAX_PEOPLE = 1_000;
/** The limit in the channel contract, which is also Discord's. */
const MAX_EMOJIS = 20;

/** A task that runs in order within its channel. */
export interface ReactionTask {
  readonly channelId: string;
  readonly work: () => Promise<void>;
}

/**
 * Tracks added and removed reactions. Discord sends one emoji at a time, but the core needs all of
 * a person's emojis.
 */
export class ReactionTracker {
  readonly #deps: ReactionDeps;
  /** The known emojis, keyed by message and person. */
  readonly #emojis = new BoundedMap<string, readonly string[]>(MAX_REACTIONS);
  readonly #people = new BoundedMap<string, InboundReaction['sender']>(MAX_PEOPLE);

  constructor(deps: ReactionDeps) {
    this.#deps = deps;
  }

  /**
   * Handles MESSAGE_REACTION_ADD and MESSAGE_REACTION_REMOVE; undefined for the bot's own reactions
   * and for unreadable reactions.
   */
  read(data: unknown, change: 'added' | 'removed'): ReactionTask | undefined {
    const parsed = WireReaction.safeParse(data);
    if (!parsed.success || parsed.data.user_id === this.#deps.me()) return undefined;
    const reaction = parsed.data;
    return {
      channelId: reaction.channel_id,
      work: () => this.#hand(reaction, change, this.#deps.clock()),
    };
  }

  /**
   * Handles MESSAGE_REACTION_REMOVE_ALL and MESSAGE_REACTION_REMOVE_EMOJI, which remove a message's
   * known reactions.
   */
  readCleared(data: unknown): ReactionTask | undefined {
    const parsed = WireClearedReactions.safeParse(data);
    if (!parsed.success) return undefined;
    const cleared = parsed.data;
    return {
      channelId: cleared.channel_id,
      work: () => this.#takeBack(cleared, this.#deps.clock()),
    };
  }

  async #takeBack(cleared: WireClearedReactions, sentAt: number): Promise<void> {
    const { account, findPlace, reacted } = this.#deps;
    const { channel_id, message_id: messageId, guild_id: guild = '', emoji } = cleared;
    const gone = emoji === undefined ? undefined : formatEmoji(emoji);
    for (const [key, known] of [...this.#emojis]) {
      const [message, person] = key.split(' ');
      const emojis = gone === undefined ? [] : known.filter((one) => one !== gone);
      const sender = this.#people.get(`${guild} ${person}`);
      const isSame = emojis.length === known.length;
      if (message !== messageId || isSame || sender === undefined) continue;
      const { chat } = await findPlace(channel_id);
      await reacted({ channel: 'discord', account, chat, messageId, sender, emojis, sentAt });
      this.#emojis.set(key, emojis);
    }
  }

  async #hand(reaction: WireReaction, change: 'added' | 'removed', sentAt: number): Promise<void> {
    const { account, findPlace, reacted } = this.#deps;
    const sender = await this.#senderOf(reaction, change);
    if (sender === undefined) return;
    const { chat } = await findPlace(reaction.channel_id);
    const key = `${reaction.message_id} ${reaction.user_id}`;
    const emoji = formatEmoji(reaction.emoji);
    const others = (this.#emojis.get(key) ?? []).filter((other) => other !== emoji);
    const emojis = (change === 'added' ? [...others, emoji] : others).slice(-MAX_EMOJIS);
    const { message_id: messageId } = reaction;
    await reacted({ channel: 'discord', account, chat, messageId, sender, emojis, sentAt });
    this.#emojis.set(key, emojis);
  }

  /**
   * Discord includes the person only when a reaction is added in a server. In direct chats, the
   * account is requested once. If a person in a server removes a reaction that was added before the
   * start, that person remains unknown.
   */
  async #senderOf(
    { user_id: id, guild_id: guild, member }: WireReaction,
    change: 'added' | 'removed',
  ): Promise<InboundReaction['sender'] | undefined> {
    const key = `${guild ?? ''} ${id}`;
    const known = this.#people.get(key);
    const isUnknown = known === undefined && guild !== undefined && change === 'removed';
    if (member == null && (known !== undefined || isUnknown)) return known;
    const user = member?.user ?? (await this.#userOf(id));
    if (user === undefined) return undefined;
    const sender = toSender(user, member, user.bot === true);
    this.#people.set(key, sender);
    return sender;
  }

  /** Requests an account; undefined if it no longer exists. */
  async #userOf(id: string): Promise<WireUser | undefined> {
    try {
      return await this.#deps.api.user(id);
    } catch (thrown) {
      if (toCallFailure(thrown).kind === 'refused') return undefined;
      throw thrown;
    }
  }
}

/** An emoji as text; the name of a server's custom emoji is put between colons. */
function formatEmoji({ id, name }: WireReaction['emoji']): string {
  if (id == null && name != null) return name;
  return `:${name ?? 'emoji'}:`;
}
