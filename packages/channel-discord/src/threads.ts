import type { ChannelContext } from '@parley/channels';
import {
  BoundedMap,
  formatInlineCode,
  type Logger,
  reasonOf,
  toLiteralMarkdown,
} from '@parley/core';
import type { DiscordApi } from './api.ts';
import { createThreadName } from './content.ts';
import { toCallFailure } from './failures.ts';
import { isThread } from './places.ts';

/** The location to which a message is sent. */
interface SendLocation {
  readonly chatId: string;
  readonly threadId?: string | undefined;
  readonly replyToMessageId?: string | undefined;
}

interface ThreadsDeps extends Pick<ChannelContext<unknown>, 'notifyOwner'> {
  readonly api: Pick<DiscordApi, 'channel' | 'message' | 'startThread'>;
  readonly me: () => string | undefined;
  /** Returns whether the gateway has listed a thread with this id. */
  readonly isThread: (id: string) => boolean;
  readonly log: Logger;
}

/** The error code if a thread has already been started from this message. */
const STARTED_ALREADY = 160004;
const MAX_THREADS = 1_000;
/** The deadline (ms) for reading the message whose first words become the thread's name. */
const READ_WITHIN_MS = 10_000;

/**
 * Starts threads from messages that address the bot. A thread gets the id of its message, so a
 * route can name the thread before it exists; the first part of the answer starts it. A forum post
 * also has the id of its first message. A forum post already exists as a thread, and the forum
 * itself does not accept messages.
 */
export class AnswerThreadManager {
  readonly #deps: ThreadsDeps;
  /** Where the answer is sent for each thread, once this is known. */
  readonly #opened = new BoundedMap<string, 'thread' | 'channel'>(MAX_THREADS);
  readonly #opening = new Map<string, Promise<'thread' | 'channel'>>();

  constructor(deps: ThreadsDeps) {
    this.#deps = deps;
  }

  /**
   * Starts the thread if necessary and returns the location to send to, which is the channel if the
   * thread is refused.
   */
  async open<W extends SendLocation>(where: W): Promise<W> {
    const { chatId, threadId } = where;
    if (threadId === undefined || threadId !== where.replyToMessageId) return where;
    if (!this.#opened.has(threadId) && !this.#deps.isThread(threadId)) {
      const opening = this.#opening.get(threadId) ?? this.#start(chatId, threadId);
      this.#opening.set(threadId, opening);
      const found = await opening.finally(() => this.#opening.delete(threadId));
      this.#opened.set(threadId, found);
    }
    return this.known(where);
  }

  /**
   * Returns the location based only on cached data. A thread that may not exist yet is replaced by
   * its channel.
   */
  known<W extends SendLocation>(where: W): W {
    const { threadId } = where;
    if (threadId === undefined || threadId !== where.replyToMessageId) return where;
    // The message that starts a thread is in the channel. A thread shows its starting message
    // anyway, so the message is not quoted.
    return this.#opened.get(threadId) === 'thread' || this.#deps.isThread(threadId)
      ? { ...where, replyToMessageId: undefined }
      : { ...where, threadId: undefined };
  }

  async #start(channelId: string, messageId: string): Promise<'thread' | 'channel'> {
    const { api, me } = this.#deps;
    try {
      const signal = AbortSignal.timeout(READ_WITHIN_MS);
      const message = await api.message(channelId, messageId, signal);
      await api.startThread(channelId, messageId, createThreadName(message, me()));
      return 'thread';
    } catch (thrown) {
      const failure = toCallFailure(thrown);
      if (failure.kind !== 'refused') throw thrown;
      if (failure.code === STARTED_ALREADY || (await this.#exists(messageId))) return 'thread';
      this.#deps.log.warn({ channelId, reason: failure.reason }, 'no thread could be started');
      if (failure.status === 403) await this.#tell(channelId, failure.reason);
      return 'channel';
    }
  }

  /** The gateway does not list archived threads. */
  async #exists(threadId: string): Promise<boolean> {
    try {
      return isThread((await this.#deps.api.channel(threadId)).type);
    } catch (thrown) {
      if (toCallFailure(thrown).kind !== 'refused') throw thrown;
      return false;
    }
  }

  async #tell(channelId: string, reason: string): Promise<void> {
    const { notifyOwner, log } = this.#deps;
    const text = `In the Discord channel ${formatInlineCode(channelId)}, I can't start a thread and have to answer without one: ${toLiteralMarkdown(reason)}. Give the bot the permissions View Channel, Read Message History, Create Public Threads and Send Messages in Threads there, or set channels.discord.threads to never.`;
    try {
      await notifyOwner(`no threads ${channelId}`, text);
    } catch (thrown) {
      log.warn({ reason: reasonOf(thrown) }, 'the owner could not be notified');
    }
  }
}
