import { guarded } from '@parley/channels';
import { type Logger, reasonOf } from '@parley/contracts';
import type { EventHub } from './event-hub.ts';
import type { WebEvent, WebHistoryEntry } from './web-event.ts';

/** What following the history needs. */
export interface FollowDeps {
  readonly chatId: string;
  /** The newest entries, oldest first. */
  readonly newest: () => Promise<readonly WebHistoryEntry[]>;
  readonly log: Logger;
  /** `LOOK_EVERY_MS` when absent. */
  readonly everyMs?: number;
}

/** How late somebody at one gateway may see what another one took or sent. In ms. */
const LOOK_EVERY_MS = 1_000;

/**
 * The hub of a chat that other gateways serve as well: it also tells what came in or went out there.
 * That stands in the history, which all of them share, and is looked at while somebody watches. What a
 * watcher is told twice has the same id.
 */
export function followingHub(hub: EventHub, deps: FollowDeps): EventHub {
  const { chatId, newest, log, everyMs = LOOK_EVERY_MS } = deps;
  /** Absent until the first look: whoever begins to watch reads the history by himself. */
  let known: Set<string> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const entries = await newest();
    for (const entry of entries) {
      if (known !== undefined && !known.has(idOf(entry))) hub.publish(chatId, entry);
    }
    known = new Set(entries.map(idOf));
  };
  const follow = async (): Promise<void> => {
    try {
      await look();
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'what other gateways do is not seen');
    }
    timer = hub.isWatched(chatId)
      ? setTimeout(guarded('follow', follow), everyMs).unref()
      : undefined;
    if (timer === undefined) known = undefined;
  };
  return {
    ...hub,
    publish(to, event) {
      if (to === chatId && isEntry(event)) known?.add(idOf(event));
      hub.publish(to, event);
    },
    watch(watched, listener) {
      const unwatch = hub.watch(watched, listener);
      if (watched === chatId && timer === undefined) {
        timer = setTimeout(guarded('follow', follow), 0).unref();
      }
      return unwatch;
    },
  };
}

type Entry = Extract<WebEvent, { type: 'inbound' | 'part' }>;

function isEntry(event: WebEvent): event is Entry {
  return event.type === 'inbound' || event.type === 'part';
}

function idOf(entry: Entry): string {
  return entry.type === 'inbound' ? `in ${entry.messageId}` : `out ${entry.partId}`;
}
