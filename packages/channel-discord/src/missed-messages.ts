import type { ChannelContext } from '@parley/channels';
import { type InboundMessage, inlineCode, literal } from '@parley/core';
import { z } from 'zod';
import type { DiscordApi } from './api.ts';
import type { FindPlace } from './places.ts';
import { dateOf, isLater } from './positions.ts';
import { Snowflake } from './wire.ts';

/** Missed messages of one channel that are handed over; of more, the newest. */
const MAX_MISSED = 300;
const PAGE = 100;
/** Pages of skipped messages that are read to record why each was skipped. */
const MAX_EXPLAINED_PAGES = 20;
/** Notes to the owner about single channels, in one process; one more covers all others. */
const MAX_NOTES = 10;
const REASON = `more than ${MAX_MISSED} messages were written here while the bot was away; it reads the newest ${MAX_MISSED}`;

/** A message as Discord sends it. */
interface Fetched {
  readonly id: string;
  readonly data: unknown;
}

/** Messages between two others, both excluded. */
interface Span {
  readonly after: string;
  readonly before: string;
}

/** Missed messages that are handed over, oldest first, and those before them that are not. */
interface Missed {
  readonly kept: readonly Fetched[];
  readonly skipped?: Span;
}

interface MissedDeps extends Pick<ChannelContext<unknown>, 'skipped' | 'notifyOwner' | 'log'> {
  readonly api: Pick<DiscordApi, 'messagesAfter' | 'messagesBefore'>;
  readonly findPlace: FindPlace;
  /** The message as ingress would get it; undefined for what is none. */
  readonly read: (data: unknown) => Promise<InboundMessage | undefined>;
  readonly signal: AbortSignal;
}

/** Reads what was written in a channel while the bot was away. All calls reject when Discord does not answer. */
export class MissedMessages {
  readonly #deps: MissedDeps;
  #notes = 0;

  constructor(deps: MissedDeps) {
    this.#deps = deps;
  }

  /** The newest messages after `after`, as many as the bound allows. */
  async newest(channelId: string, after: string): Promise<Missed> {
    const { api, signal } = this.#deps;
    const oldest = readPage(await api.messagesAfter(channelId, after));
    const reached = oldest.at(-1)?.id;
    if (oldest.length < PAGE || reached === undefined) return { kept: oldest };
    let newest: readonly Fetched[] = [];
    while (newest.length < MAX_MISSED) {
      const page = readPage(await api.messagesBefore(channelId, newest[0]?.id, PAGE, signal));
      const between = page.filter(({ id }) => isLater(id, reached));
      newest = [...between, ...newest];
      if (between.length < PAGE) return withinBound([...oldest, ...newest], after);
    }
    return { kept: newest, skipped: spanBefore(newest, after) };
  }

  /** Tells the owner that messages are skipped, once for each span. Before the position moves past them. */
  async report(channelId: string, { after, before }: Span): Promise<void> {
    const { findPlace, notifyOwner, log } = this.#deps;
    log.warn({ channelId, after, before, read: MAX_MISSED }, 'too many missed messages');
    const { chat } = await findPlace(channelId);
    const where = chat.title === undefined ? inlineCode(channelId) : literal(chat.title);
    const what = `While the bot was away, more than ${MAX_MISSED} messages were written`;
    const why = '`parley why` with the id of a message says whether it was skipped.';
    this.#notes += 1;
    if (this.#notes <= MAX_NOTES) {
      const text = `${what} in ${where} on Discord. The newest ${MAX_MISSED} were read, those before ${dateOf(before)} were not. ${why}`;
      await notifyOwner(`skipped ${channelId} ${after}`, text);
    } else if (this.#notes === MAX_NOTES + 1) {
      const text = `${what} in further channels on Discord, too. The log names each. ${why}`;
      await notifyOwner(`skipped ${channelId} ${after}`, text);
    }
  }

  /** Records for each skipped message why it was (D08), page by page from `from` on. */
  async explain(channelId: string, { after, before }: Span): Promise<void> {
    const { api, log, read, skipped, signal } = this.#deps;
    let from = after;
    for (let page = 0; page < MAX_EXPLAINED_PAGES && !signal.aborted; page += 1) {
      const messages = readPage(await api.messagesAfter(channelId, from));
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
        'why these were skipped is not recorded one by one',
      );
  }
}

function withinBound(all: readonly Fetched[], after: string): Missed {
  if (all.length <= MAX_MISSED) return { kept: all };
  const kept = all.slice(-MAX_MISSED);
  return { kept, skipped: spanBefore(kept, after) };
}

function spanBefore(kept: readonly Fetched[], after: string): Span {
  return { after, before: kept[0]?.id ?? after };
}

const WithId = z.object({ id: Snowflake });

function readPage(page: readonly unknown[]): readonly Fetched[] {
  return page.flatMap((data) => {
    const message = WithId.safeParse(data);
    return message.success ? [{ id: message.data.id, data }] : [];
  });
}
