import type { ChannelContext, SenderFacts } from '@parley/channels';
import { type Logger, ParleyError, reasonOf } from '@parley/contracts';
import type { GuildAuthor } from './administrators.ts';
import { callFailureOf } from './call-failure.ts';
import type { DiscordApi } from './discord-api.ts';
import { Lanes } from './lanes.ts';
import type { FindPlace } from './places.ts';
import type { Position, Seen } from './seen.ts';
import { toInbound } from './to-inbound.ts';
import { type KnownChannel, whatToFetch } from './what-to-fetch.ts';
import { WireDeletion, WireMessage } from './wire.ts';

/** What taking messages needs. */
export interface IntakeDeps
  extends Pick<ChannelContext<unknown>, 'account' | 'receive' | 'revise' | 'log'> {
  readonly api: Pick<DiscordApi, 'messagesAfter'>;
  readonly findPlace: FindPlace;
  readonly factsOf: (author: GuildAuthor) => SenderFacts;
  /** The bot's own id. */
  readonly me: () => string | undefined;
  readonly seen: Seen;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 30_000;
/** Pages of 100 messages read from one channel after downtime. */
const MOST_PAGES = 3;
const PAGE = 100;
/** Ids of fetched messages that are remembered; the inbox knows the others. */
const MOST_FETCHED = 5_000;

/**
 * Takes what the gateway brings and what was missed, each channel in order. Discord brings nothing
 * twice by itself, so what cannot be stored is tried until it can; what a stop leaves over is fetched
 * after the next start.
 */
export class Intake {
  readonly #deps: IntakeDeps;
  readonly #log: Logger;
  readonly #lanes = new Lanes();
  readonly #stopping = new AbortController();
  /** Messages that were fetched and may come from the gateway, too. */
  readonly #fetched = new Set<string>();
  /** Shards that have known their channels in this process. */
  readonly #begun = new Set<number>();

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
    this.#log = deps.log;
  }

  /** MESSAGE_CREATE; a session that is where `before` says brings it again. */
  created(data: unknown, before?: Position): void {
    const message = this.#read(data);
    if (message === undefined) return;
    const { channel_id: channelId, id } = message;
    this.#deps.seen.await(id, before);
    const waits = this.#lanes.push(
      channelId,
      async () => {
        if (!this.#fetched.delete(id)) await this.#untilDone(channelId, () => this.#take(message));
        // What a stop leaves over is still to be taken.
        if (!this.#stopping.signal.aborted) this.#deps.seen.drop(id);
      },
      () => this.#fetch(channelId, String(BigInt(id) - 1n)),
    );
    if (!waits) this.#deps.seen.drop(id);
  }

  /** MESSAGE_UPDATE. Discord also sends it, and not always whole, when it has found the preview of a link. */
  updated(data: unknown): void {
    const parsed = WireMessage.safeParse(data);
    if (!parsed.success || parsed.data.edited_timestamp == null) return;
    const message = parsed.data;
    const channelId = message.channel_id;
    this.#push(channelId, async () => {
      const inbound = await this.#inbound(message);
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

  /** A shard begins anew: what it brings waits until what was missed is known. */
  hold(shard: number): void {
    this.#lanes.hold(shard);
  }

  /** The shard knows its channels: what was missed comes first. */
  catchUp(shard: number, known: readonly KnownChannel[]): void {
    const { seen } = this.#deps;
    const isFirst = seen.isNew && !this.#begun.has(shard);
    this.#begun.add(shard);
    if (isFirst) void seen.begin(known.map(({ lastMessageId }) => lastMessageId));
    const cursors = seen.cursors();
    for (const { channelId, after } of isFirst ? [] : whatToFetch(cursors, known)) {
      const first = String(BigInt(after) + 1n);
      if (!cursors.channels.has(channelId)) seen.await(first);
      this.#lanes.unshift(channelId, async () => {
        await this.#fetch(channelId, after);
        if (!this.#stopping.signal.aborted) seen.drop(first);
      });
    }
    this.#lanes.letGo(shard);
  }

  /** Resolves when what is being stored is stored. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#lanes.close();
  }

  #push(channelId: string, work: () => Promise<void>): void {
    this.#lanes.push(channelId, () => this.#untilDone(channelId, work));
  }

  #read(data: unknown): WireMessage | undefined {
    const message = WireMessage.safeParse(data);
    if (message.success) return message.data;
    this.#log.warn({ reason: message.error.message }, 'message not understood');
    return undefined;
  }

  async #inbound(message: WireMessage) {
    const { account, findPlace, me } = this.#deps;
    const own = me();
    if (own === undefined) throw new Error('the bot does not know its own id yet');
    return toInbound(message, await findPlace(message.channel_id), account, own);
  }

  async #take(message: WireMessage): Promise<void> {
    const inbound = await this.#inbound(message);
    const { guild_id: guildId, author, member } = message;
    const facts = this.#deps.factsOf({ guildId, userId: author.id, member });
    const outcome = inbound === undefined ? undefined : await this.#deps.receive(inbound, facts);
    const byPerson = inbound?.sender.isBot === false;
    const served = byPerson && outcome !== undefined && outcome.kind !== 'refused';
    await this.#deps.seen.note(message.channel_id, message.id, served);
  }

  /** Reads a channel on from a message, as far as the bound allows. */
  async #fetch(channelId: string, from: string): Promise<void> {
    let after = from;
    await this.#untilDone(channelId, async () => {
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const messages = await this.#deps.api.messagesAfter(channelId, after);
        for (const data of messages) {
          const message = this.#read(data);
          if (this.#stopping.signal.aborted || message === undefined) continue;
          await this.#take(message);
          after = message.id;
          if (this.#fetched.size >= MOST_FETCHED) this.#fetched.clear();
          this.#fetched.add(message.id);
        }
        if (messages.length < PAGE) return;
      }
      this.#log.warn(
        { channelId, read: MOST_PAGES * PAGE },
        'more was missed than is fetched; the rest of it is left out',
      );
    });
  }

  /** Repeats work until it is done, is refused for good, or all stops. */
  async #untilDone(channelId: string, work: () => Promise<void>): Promise<void> {
    for (let failures = 0; !this.#stopping.signal.aborted; failures += 1) {
      try {
        return await work();
      } catch (thrown) {
        const reason = reasonOf(thrown);
        const failure = callFailureOf(thrown);
        if (failure.kind === 'refused' && (failure.status === 403 || failure.status === 404)) {
          this.#deps.seen.forget(channelId);
          this.#log.warn({ channelId, reason }, 'channel cannot be read');
          return;
        }
        if (thrown instanceof ParleyError && thrown.code === 'inbound-invalid') {
          this.#log.error({ channelId, reason }, 'message cannot be taken');
          return;
        }
        const backoff = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures);
        const afterMs = failure.kind === 'rate-limited' ? failure.retryAfterMs : backoff;
        this.#log.warn({ channelId, afterMs, reason }, 'message not taken yet');
        await this.#deps.wait(afterMs, this.#stopping.signal);
      }
    }
  }
}
