import type { ChannelContext } from '@parley/channels';
import { formatInlineCode, type InboundMessage, toLiteralMarkdown } from '@parley/core';
import { z } from 'zod';
import type { DiscordApi } from './api.ts';
import type { FindChatDetails } from './places.ts';
import { formatSnowflakeDate, isLater } from './positions.ts';
import { Snowflake } from './wire.ts';

/** The maximum number of missed messages admitted per channel; the newest messages are kept. */
const MAX_MISSED = 300;
const PAGE = 100;
/**
 * The maximum number of pages of skipped messages that are read to record the reason for each
 * message.
 */
const MAX_EXPLAINED_PAGES = 20;
/**
 * The maximum number of notes per process that tell the owner about individual channels; one
 * further note covers all other channels.
 */
const MAX_NOTES = 10;
const REASON = `more than ${MAX_MISSED} messages were written here while the bot was away; it reads the newest ${MAX_MISSED}`;

/** A message as Discord sends it. */
interface FetchedMessage {
  readonly id: string;
  readonly data: unknown;
}

/** The exclusive range between two messages. */
interface MessageSpan {
  readonly after: string;
  readonly before: string;
}

/** The missed messages that are admitted, oldest first, and the older ones that are skipped. */
interface MissedBatch {
  readonly kept: readonly FetchedMessage[];
  readonly skipped?: MessageSpan;
}

interface MissedMessagesDeps
  extends Pick<ChannelContext<unknown>, 'skipped' | 'notifyOwner' | 'log'> {
  readonly api: Pick<DiscordApi, 'messagesAfter' | 'messagesBefore'>;
  readonly findPlace: FindChatDetails;
  /** Converts a message for ingress; undefined if it is not a message. */
  readonly read: (data: unknown) => Promise<InboundMessage | undefined>;
  readonly signal: AbortSignal;
}

/**
 * Reads the messages that were written in a channel while the bot was away. All calls reject if
 * Discord does not respond.
 */
export class MissedMessageReader {
  readonly #deps: MissedMessagesDeps;
  #notes = 0;

  constructor(deps: MissedMessagesDeps) {
    this.#deps = deps;
  }

  /** The newest messages after `after`, up to the limit. */
  async newest(channelId: string, after: string): Promise<MissedBatch> {
    const { api, signal } = this.#deps;
    const oldest = parseMessagePage(await api.messagesAfter(channelId, after));
    const reached = oldest.at(-1)?.id;
    if (oldest.length < PAGE || reached === undefined) return { kept: oldest };
    let newest: readonly FetchedMessage[] = [];
    while (newest.length < MAX_MISSED) {
      const page = parseMessagePage(
        await api.messagesBefore(channelId, newest[0]?.id, PAGE, signal),
      );
      const between = page.filter(({ id }) => isLater(id, reached));
      newest = [...between, ...newest];
      if (between.length < PAGE) return limitMissedMessages([...oldest, ...newest], after);
    }
    return { kept: newest, skipped: getSpanBefore(newest, after) };
  }

  /**
   * Notifies the owner about skipped messages, once for each range and before the position moves
   * past it.
   */
  async report(channelId: string, { after, before }: MessageSpan): Promise<void> {
    const { findPlace, notifyOwner, log } = this.#deps;
    log.warn({ channelId, after, before, read: MAX_MISSED }, 'too many missed messages');
    const { chat } = await findPlace(channelId);
    const where =
      chat.title === undefined ? formatInlineCode(channelId) : toLiteralMarkdown(chat.title);
    const what = `While the bot was away, more than ${MAX_MISSED} messages were written`;
    const why = '`parley why` with a message id tells whether that message was skipped.';
    this.#notes += 1;
    if (this.#notes <= MAX_NOTES) {
      const text = `${what} in ${where} on Discord. The newest ${MAX_MISSED} were read, but those before ${formatSnowflakeDate(before)} were not. ${why}`;
      await notifyOwner(`skipped ${channelId} ${after}`, text);
    } else if (this.#notes === MAX_NOTES + 1) {
      const text = `${what} in other channels on Discord. The log lists each channel. ${why}`;
      await notifyOwner(`skipped ${channelId} ${after}`, text);
    }
  }

  /** Records the reason for each skipped message (D08), page by page, starting at `from`. */
  async explain(channelId: string, { after, before }: MessageSpan): Promise<void> {
    const { api, log, read, skipped, signal } = this.#deps;
    let from = after;
    for (let page = 0; page < MAX_EXPLAINED_PAGES && !signal.aborted; page += 1) {
      const messages = parseMessagePage(await api.messagesAfter(channelId, from));
      const between = messages.filter(({ id }) => isLater(before, id));
      const all = await Promise.all(between.map(({ data }) => read(data)));
      await skipped(
        all.flatMap((message) => (message?.sender.isBot === false ? message : [])),
        REASON,
      );
      from = between.at(-1)?.id ?? before;
      if (between.length < PAGE) return;
    }
    if (!signal.aborted)
      log.warn(
        { channelId, after: from, before },
        'the reasons for these skipped messages are not recorded one by one',
      );
  }
}

function limitMissedMessages(all: readonly FetchedMessage[], after: string): MissedBatch {
  if (all.length <= MAX_MISSED) return { kept: all };
  const kept = all.slice(-MAX_MISSED);
  return { kept, skipped: getSpanBefore(kept, after) };
}

function getSpanBefore(kept: readonly FetchedMessage[], after: string): MessageSpan {
  return { after, before: kept[0]?.id ?? after };
}

const WithId = z.object({ id: Snowflake });

function parseMessagePage(page: readonly unknown[]): readonly FetchedMessage[] {
  return page.flatMap((data) => {
    const message = WithId.safeParse(data);
    return message.success ? [{ id: message.data.id, data }] : [];
  });
}
