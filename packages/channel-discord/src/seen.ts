import { type AdapterValues, type Logger, reasonOf } from '@parley/core';
import { z } from 'zod';
import { ChannelPageStore } from './channel-pages.ts';
import type { StartTimer } from './connection.ts';
import { isLater, SessionPosition, selectLaterId } from './positions.ts';
import { Snowflake } from './wire.ts';

/** The positions up to which this account's messages are stored. */
export interface MessageCursors {
  /** The message up to which everything is stored; undefined at the very first start. */
  readonly newest?: string | undefined;
  /** The newest stored message in each served channel. */
  readonly channels: ReadonlyMap<string, string>;
}

const Channels = z.record(Snowflake, Snowflake);
const Stored = z.object({
  newest: Snowflake.optional(),
  channels: Channels,
  /** How many more stored values contain channels. */
  pages: z.int().nonnegative().default(0),
  sessions: z.array(SessionPosition).optional().catch(undefined),
  /** The only session, in the format of version 0.1.0. */
  session: SessionPosition.optional().catch(undefined),
  gap: Snowflake.optional().catch(undefined),
});
const KIND = 'seen';
const ID = 'all';
const pageId = (index: number): string => `channels ${index}`;
/** The delay (ms) before positions are written. */
const WRITE_MS = 5_000;
/**
 * The maximum number of stored sessions that have not delivered everything, including the current
 * one.
 */
const MAX_SESSIONS = 8;

interface MessageCursorStoreDeps {
  readonly values: Pick<AdapterValues, 'get' | 'set'>;
  readonly log: Logger;
  readonly later: StartTimer;
}

/**
 * Remembers the last stored message in each served channel, so that messages missed while the bot
 * was away can be fetched. Also remembers the gateway sessions that may still deliver events. A new
 * channel is written immediately. After a crash, positions may be slightly outdated. That is
 * harmless, because a message that is fetched twice is recognized as a duplicate.
 */
export class MessageCursorStore {
  readonly #deps: MessageCursorStoreDeps;
  readonly #channels = new ChannelPageStore((channelId) =>
    this.#deps.log.error(
      { channelId },
      'too many channels; missed messages in the channel that has been silent longest are no longer fetched',
    ),
  );
  /** Messages in progress, each with the session position before it. */
  readonly #inProgress = new Map<string, SessionPosition | undefined>();
  /** Channel reads that are not complete yet. */
  readonly #holds = new Set<{
    readonly after: string;
    readonly position: SessionPosition | undefined;
  }>();
  /**
   * Sessions that may have undelivered messages, oldest first; the last one is the current session.
   */
  readonly #sessions = new Map<string, SessionPosition>();
  #newest: string | undefined;
  #gap: string | undefined;
  #isNew = true;
  #cancelWrite: (() => void) | undefined;
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(deps: MessageCursorStoreDeps) {
    this.#deps = deps;
  }

  /** Loads the positions stored by an earlier process. Rejects if the database cannot be read. */
  async load(): Promise<void> {
    const { values } = this.#deps;
    const text = (await values.get(KIND, [ID])).get(ID);
    if (text === undefined) return;
    const { newest, channels, pages, sessions, session, gap } = Stored.parse(JSON.parse(text));
    const ids = Array.from({ length: pages }, (_, n) => pageId(n + 1));
    const further = pages === 0 ? new Map<string, string>() : await values.get(KIND, ids);
    const all = [
      channels,
      ...[...further.values()].map((page) => Channels.parse(JSON.parse(page))),
    ];
    this.#isNew = newest === undefined;
    this.#gap = gap;
    for (const one of sessions ?? (session === undefined ? [] : [session]))
      this.#sessions.set(one.session, one);
    this.#newest = selectLaterId(this.#newest, newest);
    for (const [channelId, messageId] of all.flatMap(Object.entries<string>))
      this.#channels.advance(channelId, messageId);
    this.#channels.takeChanged();
  }

  /** Whether no earlier process has served this account. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /**
   * Records the channels known at the first connection, so that messages missed later are fetched.
   */
  async begin(known: readonly string[]): Promise<void> {
    this.#newest = known.reduce((a, b) => (isLater(a, b) ? a : b), this.#newest ?? '0');
    await this.flush();
  }

  cursors(): MessageCursors {
    return { newest: this.#storedUpTo(), channels: this.#channels.all() };
  }

  knows(channelId: string): boolean {
    return this.#channels.has(channelId);
  }

  /**
   * Tracks a message in progress: the stored position stays ahead of the message until `note` or
   * `drop` is called.
   */
  track(messageId: string, before = this.position): void {
    this.#inProgress.set(messageId, before);
  }

  /**
   * Marks that messages after `after` are being read in a channel. Until this is released, the
   * stored position stays there.
   */
  hold(after: string): () => void {
    const hold = { after, position: this.position };
    this.#holds.add(hold);
    return () => void this.#holds.delete(hold);
  }

  /** The current session's position, which is initially that of an earlier process. */
  get position(): SessionPosition | undefined {
    return [...this.#sessions.values()].at(-1);
  }

  /** Sessions that may have undelivered messages, oldest first. */
  get sessions(): readonly SessionPosition[] {
    return [...this.#sessions.values()];
  }

  /**
   * Moves a session's position, which is written once no earlier message is in progress. A new
   * session is written immediately. Otherwise, the next process could not request the direct
   * messages that this session leaves undelivered. Returns the session that had to be given up to
   * make room.
   */
  moveTo(position: SessionPosition): SessionPosition | undefined {
    const isKnown = this.#sessions.has(position.session);
    this.#sessions.set(position.session, position);
    if (isKnown) {
      this.#writeLater();
      return undefined;
    }
    const [oldest] = this.#sessions.values();
    const dropped = this.#sessions.size > MAX_SESSIONS ? oldest : undefined;
    if (dropped !== undefined) this.#sessions.delete(dropped.session);
    void this.flush();
    return dropped;
  }

  /** Removes a session that has delivered everything or will not deliver anything more. */
  end(session: string): void {
    this.#sessions.delete(session);
    this.#writeLater();
  }

  /**
   * The message after which first direct messages may have been missed; undefined if none were
   * missed.
   */
  get gap(): string | undefined {
    return this.#gap;
  }

  setGap(gap: string | undefined): void {
    this.#gap = gap;
    this.#writeLater();
  }

  /** Stops tracking a message that will not be stored. */
  drop(messageId: string): void {
    this.#inProgress.delete(messageId);
  }

  /**
   * A served message registers its channel; any other message only moves the position of a known
   * channel.
   */
  async note(channelId: string, messageId: string, served: boolean): Promise<void> {
    const isKnown = this.#channels.has(channelId);
    this.#inProgress.delete(messageId);
    this.#newest = selectLaterId(this.#newest, messageId);
    if (isKnown || served) this.#channels.advance(channelId, messageId);
    if (served && !isKnown) await this.flush();
    else this.#writeLater();
  }

  /**
   * Records that a direct chat is served because it was the source of a command. Discord does not
   * list direct chats for bots, so later messages in an unrecorded chat could not be fetched. A
   * message sent before the command may still be in progress. While there is a gap, the chat counts
   * as new, so that its next message triggers a fetch starting at the gap.
   */
  async serve(channelId: string, interactionId: string): Promise<void> {
    if (this.#channels.has(channelId) || this.#gap !== undefined) return;
    this.#channels.advance(channelId, this.#completeUpTo(interactionId));
    await this.flush();
  }

  /** Removes a channel that no longer exists. */
  forget(channelId: string): void {
    this.#channels.delete(channelId);
  }

  /**
   * Writes the positions one at a time, because otherwise an older write could replace a newer one.
   */
  flush(): Promise<void> {
    this.#cancelWrite?.();
    this.#cancelWrite = undefined;
    this.#lastWrite = this.#lastWrite.then(() => this.#write());
    return this.#lastWrite;
  }

  #writeLater(): void {
    this.#cancelWrite ??= this.#deps.later(() => void this.flush(), WRITE_MS);
  }

  async #write(): Promise<void> {
    const changed = this.#channels.takeChanged();
    const value = JSON.stringify({
      newest: this.#storedUpTo(),
      ...this.#channels.first,
      sessions: this.#storedSessions(),
      gap: this.#gap,
    });
    const pages = [...changed].map(([index, channels]) => {
      return { kind: KIND, id: pageId(index), value: JSON.stringify(channels) };
    });
    try {
      await this.#deps.values.set([{ kind: KIND, id: ID, value }, ...pages]);
    } catch (thrown) {
      this.#deps.log.warn({ reason: reasonOf(thrown) }, 'the positions could not be stored');
      this.#channels.putBack(changed.keys());
      this.#writeLater();
    }
  }

  /**
   * The sessions, each with the position of its oldest message in progress. An ended session stays
   * until its messages are stored.
   */
  #storedSessions(): readonly SessionPosition[] {
    const stored = new Map(this.#sessions);
    const held = [...this.#holds].map(({ position }) => position);
    for (const before of [...held, ...this.#inProgress.values()].reverse())
      if (before !== undefined) stored.set(before.session, before);
    return [...stored.values()];
  }

  /**
   * The message up to which everything is stored. Channels run concurrently, so the newest message
   * is not always stored last.
   */
  #storedUpTo(): string | undefined {
    return this.#newest === undefined ? undefined : this.#completeUpTo(this.#newest);
  }

  /** The latest position up to `newest` before which nothing is in progress. */
  #completeUpTo(newest: string): string {
    const before = [...this.#inProgress.keys()].map((id) => String(BigInt(id) - 1n));
    const held = [...this.#holds].map(({ after }) => after);
    return [...before, ...held].reduce((a, b) => (isLater(a, b) ? b : a), newest);
  }
}
