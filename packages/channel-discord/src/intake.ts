import type { ChannelContext, SenderFacts } from '@parley/channels';
import { BoundedMap, type InboundMessage, type Logger, ParleyError, reasonOf } from '@parley/core';
import { addAnsweredMessage } from './answered.ts';
import type { DiscordApi } from './api.ts';
import { findNotice, getSentTime, toInbound } from './content.ts';
import { toCallFailure } from './failures.ts';
import { TaskLanes } from './lanes.ts';
import { MissedMessageReader } from './missed-messages.ts';
import type { ChatDetails, FindChatDetails, GuildAuthor } from './places.ts';
import { getSnowflakeTime, type SessionPosition } from './positions.ts';
import type { ReactionTask } from './reactions.ts';
import type { MessageCursorStore } from './seen.ts';
import type { DiscordSettings } from './settings.ts';
import { type KnownChannel, planFetches } from './what-to-fetch.ts';
import { WireDeletion } from './wire.ts';
import { WireMessage, WireMessageIds } from './wire-message.ts';

interface IntakeDeps
  extends Pick<
    ChannelContext<unknown>,
    'account' | 'receive' | 'revise' | 'skipped' | 'ignored' | 'notifyOwner' | 'log' | 'clock'
  > {
  readonly settings: Pick<DiscordSettings, 'threads' | 'history'>;
  readonly api: Pick<DiscordApi, 'message' | 'messagesAfter' | 'messagesBefore'>;
  readonly findPlace: FindChatDetails;
  readonly factsOf: (author: GuildAuthor) => SenderFacts;
  readonly me: () => string | undefined;
  readonly seen: MessageCursorStore;
  readonly watchContent: (message: InboundMessage) => void;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
/**
 * The maximum number of fetched message ids in memory; beyond that, the inbox recognizes
 * duplicates.
 */
const MAX_FETCHED = 5_000;
const MAX_WITH_HISTORY = 5_000;
const MAX_COVERED = 5_000;
/**
 * The number of channels that are read concurrently. Discord allows 50 calls a second, and some of
 * these are needed for answers.
 */
const MAX_READING = 5;

/**
 * Admits live and missed messages, in order within each channel. Discord delivers an event only
 * once, so storing a message is retried until it succeeds. Messages that are still pending at
 * shutdown are fetched after the next start.
 */
export class Intake {
  readonly #deps: IntakeDeps;
  readonly #log: Logger;
  readonly #lanes = new TaskLanes();
  readonly #stopping = new AbortController();
  /** Fetched messages that may also arrive through the gateway. */
  readonly #fetched = new Set<string>();
  /** Channels and threads whose earlier messages have been read since the start. */
  readonly #withHistory = new BoundedMap<string, true>(MAX_WITH_HISTORY);
  readonly #missed: MissedMessageReader;
  /** New direct chats that were read starting at the gap. */
  readonly #covered = new BoundedMap<string, true>(MAX_COVERED);
  readonly #slots = new TaskLimiter(MAX_READING);
  /** Records skipped messages, one channel after the other. */
  #explaining: Promise<void> = Promise.resolve();
  /** Shards that have been ready in this process. */
  readonly #readyShards = new Set<number>();

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
    this.#log = deps.log;
    this.#missed = new MissedMessageReader({
      ...deps,
      signal: this.#stopping.signal,
      read: async (data) => {
        const message = this.#read(data);
        return message && (await this.#inbound(message)).inbound;
      },
    });
  }

  /**
   * Handles MESSAGE_CREATE. A session that is resumed at `before` delivers the same message again.
   */
  created(data: unknown, before?: SessionPosition): void {
    const message = this.#read(data);
    if (message === undefined) {
      this.#noteUnreadable(data);
      return;
    }
    const { channel_id: channelId, id } = message;
    this.#deps.seen.track(id, before);
    this.#coverGap(message);
    // If the adapter stops, the message stays tracked, so that it is fetched later.
    const drop = () => {
      if (!this.#stopping.signal.aborted) this.#deps.seen.drop(id);
    };
    const placed = this.#lanes.push(
      channelId,
      async () => {
        if (!this.#fetched.delete(id)) await this.#retry(channelId, () => this.#admit(message));
        drop();
      },
      async () => {
        await this.#fetch(channelId, String(BigInt(id) - 1n));
        drop();
      },
    );
    // The fetch that replaces this task keeps the stored position ahead of the message.
    if (placed === 'left') this.#deps.seen.drop(id);
  }

  /**
   * Records a message that lacks a required field such as its author, so that `why` can explain it.
   */
  #noteUnreadable(data: unknown): void {
    const parsed = WireMessageIds.safeParse(data);
    if (!parsed.success) return;
    const { channel_id: channelId, id: messageId } = parsed.data;
    this.#push(channelId, async () => {
      const { chat } = await this.#deps.findPlace(channelId);
      const event = { chatId: chat.id, messageId, at: getSnowflakeTime(messageId) };
      await this.#deps.ignored(event, 'Discord sent this message in an unknown form');
    });
  }

  /**
   * Fetches earlier messages in a new direct chat, because they may have been lost with a session.
   */
  #coverGap({ channel_id: channelId, guild_id }: WireMessage): void {
    const { seen } = this.#deps;
    const { gap } = seen;
    if (gap === undefined || guild_id !== undefined) return;
    if (seen.knows(channelId) || this.#covered.has(channelId)) return;
    this.#covered.set(channelId, true);
    this.#lanes.push(channelId, () => this.#fetch(channelId, gap));
  }

  /**
   * Handles MESSAGE_UPDATE. Discord also sends it, sometimes incomplete, after creating a link
   * preview.
   */
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

  /** Handles MESSAGE_DELETE and MESSAGE_DELETE_BULK. */
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

  /**
   * Handles MESSAGE_REACTION_ADD and MESSAGE_REACTION_REMOVE after the messages that were received
   * earlier.
   */
  reacted(reaction: ReactionTask | undefined): void {
    if (reaction !== undefined) this.#push(reaction.channelId, reaction.work);
  }

  /**
   * Called when a shard starts a session. The session's messages wait until the missed messages are
   * queued.
   */
  hold(shard: number): void {
    this.#lanes.hold(shard);
  }

  /**
   * Called when the shard has received its channels. Missed messages are queued before live ones.
   */
  catchUp(shard: number, known: readonly KnownChannel[]): void {
    const { seen } = this.#deps;
    const isFirst = seen.isNew && !this.#readyShards.has(shard);
    this.#readyShards.add(shard);
    if (isFirst) void seen.begin(known.map(({ lastMessageId }) => lastMessageId));
    const cursors = seen.cursors();
    const { fetch, left } = isFirst ? { fetch: [], left: 0 } : planFetches(cursors, known);
    for (const { channelId, after } of fetch) {
      const release = seen.hold(after);
      this.#lanes.unshift(channelId, async () => {
        await this.#fetch(channelId, after);
        if (!this.#stopping.signal.aborted) release();
      });
    }
    if (left > 0) void this.#reportLeft(left);
    this.#lanes.release(shard);
  }

  /** Resolves when the messages in progress are stored. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#lanes.close(), this.#explaining]);
  }

  #push(channelId: string, work: () => Promise<void>): void {
    this.#lanes.push(channelId, () => this.#retry(channelId, work));
  }

  #read(data: unknown): WireMessage | undefined {
    const message = WireMessage.safeParse(data);
    if (!message.success) {
      this.#log.warn({ reason: message.error.message }, 'the message is not in the expected form');
      return undefined;
    }
    const { id, lost } = message.data;
    if (lost.length > 0)
      this.#log.warn({ messageId: id, lost }, 'parts of the message are not in the expected form');
    return message.data;
  }

  async #inbound(message: WireMessage) {
    const { account, settings, findPlace, me } = this.#deps;
    const own = me();
    if (own === undefined) throw new Error("the bot's id is not known yet");
    const place = await findPlace(message.channel_id);
    const whole = await addAnsweredMessage(message, {
      ...this.#deps,
      signal: this.#stopping.signal,
    });
    return {
      inbound: toInbound(whole, place, { account, me: own, threads: settings.threads }),
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
    if (inbound === undefined) await this.#noteNotice(message, place);
    const byPerson = inbound?.sender.isBot === false;
    const served = byPerson && outcome !== undefined && outcome.kind !== 'refused';
    await this.#deps.seen.note(message.channel_id, message.id, served);
  }

  /**
   * Records a message that Discord itself wrote. It does not start a turn, but `why` can explain
   * it.
   */
  async #noteNotice(message: WireMessage, { chat }: ChatDetails): Promise<void> {
    const what = findNotice(message);
    if (what === undefined) return;
    const { id: messageId, author } = message;
    const event = { chatId: chat.id, messageId, senderId: author.id, at: getSentTime(message) };
    await this.#deps.ignored(event, `written by Discord: ${what}`);
  }

  /**
   * Fetches earlier messages as context, for the first message in a channel or thread since the
   * start.
   */
  #earlier(
    { id, channel_id }: WireMessage,
    { chat: { threadId, type } }: InboundMessage,
    place: ChatDetails,
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

  /**
   * Reads a channel, starting after a given message. Beyond the limit, only the newest messages are
   * kept.
   */
  async #fetch(channelId: string, after: string): Promise<void> {
    await this.#retry(channelId, async () => {
      const { kept, skipped } = await this.#slots.run(() => this.#missed.newest(channelId, after));
      if (this.#stopping.signal.aborted) return;
      if (skipped !== undefined) {
        await this.#missed.report(channelId, skipped);
        const explain = () => this.#missed.explain(channelId, skipped);
        this.#explaining = this.#explaining.then(() => this.#retry(channelId, explain));
      }
      for (const { data } of kept) {
        const message = this.#read(data);
        if (this.#stopping.signal.aborted || message === undefined) continue;
        await this.#retry(channelId, () => this.#admit(message));
        if (this.#fetched.size >= MAX_FETCHED) this.#fetched.clear();
        this.#fetched.add(message.id);
      }
    });
  }

  async #reportLeft(left: number): Promise<void> {
    const { notifyOwner, clock } = this.#deps;
    this.#log.error(
      { channels: left },
      'too many channels with missed messages; the remaining channels are not read',
    );
    const day = new Date(clock()).toISOString().slice(0, 10);
    const text = `While the bot was away, messages were written in more Discord channels than the bot can read after a start; ${left} channels were not read.`;
    await this.#retry('', () => notifyOwner(`channels not read ${day}`, text));
  }

  /** Retries until it succeeds, is refused permanently, or the adapter stops. */
  async #retry(channelId: string, work: () => Promise<void>): Promise<void> {
    for (let failures = 0; !this.#stopping.signal.aborted; failures += 1) {
      try {
        return await work();
      } catch (thrown) {
        const reason = reasonOf(thrown);
        const failure = toCallFailure(thrown);
        if (failure.kind === 'refused' && (failure.status === 403 || failure.status === 404)) {
          // After other refusals, the position is kept. If the permission returns, the messages
          // written since then can still be read.
          if (failure.status === 404) this.#deps.seen.forget(channelId);
          this.#log.warn({ channelId, reason }, 'the channel cannot be read');
          return;
        }
        if (thrown instanceof ParleyError && thrown.code === 'inbound-invalid') {
          this.#log.error({ channelId, reason }, 'an invalid message was skipped');
          return;
        }
        const backoff = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures);
        const afterMs = failure.kind === 'rate-limited' ? failure.retryAfterMs : backoff;
        this.#log.warn({ channelId, afterMs, reason }, 'a message could not be stored; retrying');
        await this.#deps.wait(afterMs, this.#stopping.signal);
      }
    }
  }
}

/** Runs a limited number of tasks concurrently; others wait in order. */
class TaskLimiter {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
