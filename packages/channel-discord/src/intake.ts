import type { ChannelContext, SenderFacts } from '@parley/channels';
import { BoundedMap, type InboundMessage, type Logger, ParleyError, reasonOf } from '@parley/core';
import type { Client } from 'discord.js';
import type { DiscordApi } from './api.ts';
import { toInbound } from './content.ts';
import { callFailureOf } from './failures.ts';
import { Lanes } from './lanes.ts';
import type { FindPlace, GuildAuthor, Place } from './places.ts';
import type { Reacted } from './reactions.ts';
import { type Cursors, isLater, type Position, type Seen } from './resume.ts';
import type { DiscordSettings } from './settings.ts';
import { WireDeletion, WireMessage } from './wire.ts';

interface IntakeDeps
  extends Pick<ChannelContext<unknown>, 'account' | 'receive' | 'revise' | 'log'> {
  readonly settings: Pick<DiscordSettings, 'threads' | 'history'>;
  readonly api: Pick<DiscordApi, 'messagesAfter' | 'messagesBefore'>;
  readonly findPlace: FindPlace;
  readonly factsOf: (author: GuildAuthor) => SenderFacts;
  /** The bot's own id. */
  readonly me: () => string | undefined;
  readonly seen: Seen;
  readonly watchContent: (message: InboundMessage) => void;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 30_000;
/** Pages of 100 messages read from one channel after downtime. */
const MOST_PAGES = 3;
const PAGE = 100;
/** Ids of fetched messages that are kept; the inbox recognises the others. */
const MOST_FETCHED = 5_000;
const MOST_WITH_HISTORY = 5_000;

/**
 * Admits the gateway's messages and those that were missed, each channel in order. Discord delivers an
 * event once, so a message that cannot be stored is retried until it can; what a stop leaves is fetched
 * after the next start.
 */
export class Intake {
  readonly #deps: IntakeDeps;
  readonly #log: Logger;
  readonly #lanes = new Lanes();
  readonly #stopping = new AbortController();
  /** Fetched messages that the gateway may deliver, too. */
  readonly #fetched = new Set<string>();
  /** Channels and threads whose earlier messages were read since the start. */
  readonly #withHistory = new BoundedMap<string, true>(MOST_WITH_HISTORY);
  /** Shards that have been ready in this process. */
  readonly #readyShards = new Set<number>();

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
    this.#log = deps.log;
  }

  /** MESSAGE_CREATE; a session resumed at `before` delivers it again. */
  created(data: unknown, before?: Position): void {
    const message = this.#read(data);
    if (message === undefined) return;
    const { channel_id: channelId, id } = message;
    this.#deps.seen.track(id, before);
    const isQueued = this.#lanes.push(
      channelId,
      async () => {
        if (!this.#fetched.delete(id)) await this.#retry(channelId, () => this.#admit(message));
        // A stop leaves the message to be fetched later.
        if (!this.#stopping.signal.aborted) this.#deps.seen.drop(id);
      },
      () => this.#fetch(channelId, String(BigInt(id) - 1n)),
    );
    if (!isQueued) this.#deps.seen.drop(id);
  }

  /** MESSAGE_UPDATE. Discord also sends it, not always complete, when it has made the preview of a link. */
  updated(data: unknown): void {
    const parsed = WireMessage.safeParse(data);
    if (!parsed.success || parsed.data.edited_timestamp == null) return;
    const message = parsed.data;
    const channelId = message.channel_id;
    this.#push(channelId, async () => {
      const { inbound } = await this.#inbound(message);
      if (inbound !== undefined && !inbound.sender.isBot)
        await this.#deps.revise({ kind: 'edited', message: inbound });
    });
  }

  /** MESSAGE_DELETE and MESSAGE_DELETE_BULK. */
  deleted(data: unknown): void {
    const deletion = WireDeletion.safeParse(data);
    if (!deletion.success) return;
    const { channel_id: channelId, id, ids = [] } = deletion.data;
    this.#push(channelId, async () => {
      const { chat } = await this.#deps.findPlace(channelId);
      for (const messageId of id === undefined ? ids : [id])
        await this.#deps.revise({ kind: 'deleted', chatId: chat.id, messageId });
    });
  }

  /** MESSAGE_REACTION_ADD and MESSAGE_REACTION_REMOVE, after the messages that came before. */
  reacted(reaction: Reacted | undefined): void {
    if (reaction !== undefined) this.#push(reaction.channelId, reaction.work);
  }

  /** A shard starts a session: its messages wait until the missed ones are queued. */
  hold(shard: number): void {
    this.#lanes.hold(shard);
  }

  /** The shard knows its channels: missed messages come first. */
  catchUp(shard: number, known: readonly KnownChannel[]): void {
    const { seen } = this.#deps;
    const isFirst = seen.isNew && !this.#readyShards.has(shard);
    this.#readyShards.add(shard);
    if (isFirst) void seen.begin(known.map(({ lastMessageId }) => lastMessageId));
    const cursors = seen.cursors();
    for (const { channelId, after } of isFirst ? [] : whatToFetch(cursors, known)) {
      const first = String(BigInt(after) + 1n);
      if (!cursors.channels.has(channelId)) seen.track(first);
      this.#lanes.unshift(channelId, async () => {
        await this.#fetch(channelId, after);
        if (!this.#stopping.signal.aborted) seen.drop(first);
      });
    }
    this.#lanes.release(shard);
  }

  /** Resolves when messages in progress are stored. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#lanes.close();
  }

  #push(channelId: string, work: () => Promise<void>): void {
    this.#lanes.push(channelId, () => this.#retry(channelId, work));
  }

  #read(data: unknown): WireMessage | undefined {
    const message = WireMessage.safeParse(data);
    if (message.success) return message.data;
    this.#log.warn({ reason: message.error.message }, 'the message is not in the expected form');
    return undefined;
  }

  async #inbound(message: WireMessage) {
    const { account, settings, findPlace, me } = this.#deps;
    const own = me();
    if (own === undefined) throw new Error('the id of the bot is not known yet');
    const place = await findPlace(message.channel_id);
    return {
      inbound: toInbound(message, place, { account, me: own, threads: settings.threads }),
      place,
    };
  }

  async #admit(message: WireMessage): Promise<void> {
    const { inbound, place } = await this.#inbound(message);
    if (inbound !== undefined) this.#deps.watchContent(inbound);
    const { author, member } = message;
    const facts = {
      ...this.#deps.factsOf({ guildId: place.guildId, userId: author.id, member }),
      ...(inbound && this.#earlier(message, inbound, place)),
    };
    const outcome = inbound === undefined ? undefined : await this.#deps.receive(inbound, facts);
    const byPerson = inbound?.sender.isBot === false;
    const served = byPerson && outcome !== undefined && outcome.kind !== 'refused';
    await this.#deps.seen.note(message.channel_id, message.id, served);
  }

  /** What was said before the first message there since the start that may get a turn. */
  #earlier(
    { id, channel_id }: WireMessage,
    { chat: { threadId, type } }: InboundMessage,
    place: Place,
  ): Pick<SenderFacts, 'earlier'> {
    const { api, account, settings, me } = this.#deps;
    const conversation = threadId ?? channel_id;
    const isKnown = this.#withHistory.has(conversation);
    if (settings.history === 0 || type === 'direct' || isKnown) return {};
    return {
      earlier: async (signal) => {
        const page = await api.messagesBefore(channel_id, id, settings.history, signal);
        this.#withHistory.set(conversation, true);
        return page.flatMap((data) => {
          const read = WireMessage.safeParse(data);
          if (!read.success) return [];
          return toInbound(read.data, place, { account, me: me() ?? '', threads: 'never' }) ?? [];
        });
      },
    };
  }

  /** Reads a channel from a message on, as far as the bound allows. */
  async #fetch(channelId: string, from: string): Promise<void> {
    let after = from;
    await this.#retry(channelId, async () => {
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const messages = await this.#deps.api.messagesAfter(channelId, after);
        for (const data of messages) {
          const message = this.#read(data);
          if (this.#stopping.signal.aborted || message === undefined) continue;
          await this.#admit(message);
          after = message.id;
          if (this.#fetched.size >= MOST_FETCHED) this.#fetched.clear();
          this.#fetched.add(message.id);
        }
        if (messages.length < PAGE) return;
      }
      this.#log.warn(
        { channelId, read: MOST_PAGES * PAGE },
        'too many missed messages; the rest is skipped',
      );
    });
  }

  /** Retries until it succeeds, is refused permanently, or the adapter stops. */
  async #retry(channelId: string, work: () => Promise<void>): Promise<void> {
    for (let failures = 0; !this.#stopping.signal.aborted; failures += 1) {
      try {
        return await work();
      } catch (thrown) {
        const reason = reasonOf(thrown);
        const failure = callFailureOf(thrown);
        if (failure.kind === 'refused' && (failure.status === 403 || failure.status === 404)) {
          this.#deps.seen.forget(channelId);
          this.#log.warn({ channelId, reason }, 'the channel cannot be read');
          return;
        }
        if (thrown instanceof ParleyError && thrown.code === 'inbound-invalid') {
          this.#log.error({ channelId, reason }, 'the message is invalid; it is skipped');
          return;
        }
        const backoff = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures);
        const afterMs = failure.kind === 'rate-limited' ? failure.retryAfterMs : backoff;
        this.#log.warn(
          { channelId, afterMs, reason },
          'the message is not stored yet; it is retried',
        );
        await this.#deps.wait(afterMs, this.#stopping.signal);
      }
    }
  }
}

/** A channel that the gateway listed, with its last message. */
interface KnownChannel {
  readonly id: string;
  readonly lastMessageId: string;
}

/** Channels read at most after one connect; Discord allows 50 calls a second. */
const MOST = 1_000;

/**
 * Decides which channels to read after a connect, and from where. The gateway lists channels of servers
 * with their last message, so only those with newer ones are read; a channel without a stored message (a
 * new thread, a first message) is read from the newest message of all. Known channels that are not listed,
 * mostly direct chats, are read as well.
 */
export function whatToFetch(
  { newest, channels }: Cursors,
  known: readonly KnownChannel[],
): readonly { readonly channelId: string; readonly after: string }[] {
  const listed = new Set(known.map(({ id }) => id));
  const withNewer = known.flatMap(({ id, lastMessageId }) => {
    const after = channels.get(id) ?? newest;
    if (after === undefined || !isLater(lastMessageId, after)) return [];
    return [{ channelId: id, after, isServed: channels.has(id) }];
  });
  const unlisted = [...channels]
    .filter(([id]) => !listed.has(id))
    .map(([channelId, after]) => ({ channelId, after, isServed: true }));
  return [...withNewer, ...unlisted]
    .sort((a, b) => Number(b.isServed) - Number(a.isServed))
    .slice(0, MOST)
    .map(({ channelId, after }) => ({ channelId, after }));
}

/**
 * Channels and threads of servers with their last message. discord.js leaves that undefined where Discord
 * does not send it, whatever its types say.
 */
export function knownChannels(client: Client): KnownChannel[] {
  return [...client.channels.cache.values()].flatMap((channel) => {
    if (channel.isDMBased() || !channel.isTextBased()) return [];
    const { id, lastMessageId } = channel;
    return lastMessageId == null ? [] : [{ id, lastMessageId }];
  });
}
