import {
  type Attachment,
  type Button,
  type Logger,
  type OutboundFile,
  reasonOf,
  type ToolCallOfTurn,
} from '@parley/core';
import type { IngressOutcome } from '../adapter.ts';
import { guarded } from '../guard.ts';
import type { CommandInfo } from '../menu.ts';
import type { HistoryEntry } from '../shown-chats.ts';

/**
 * Events for an open page or terminal that shows a chat. Events may be missed: after a reconnect
 * the history is fetched again, with the same ids.
 */
export type WebEvent =
  /** A message was written, possibly in another tab. */
  | {
      readonly type: 'inbound';
      readonly messageId: string;
      readonly text: string;
      readonly files?: readonly WebFile[];
      readonly at: number;
      /** Present only in a history: a rewind removed the message from what the model reads. */
      readonly isRewound?: true;
    }
  /**
   * A finished part of an answer, in the channel's dialect; the part replaces the turn's stream.
   */
  | {
      readonly type: 'part';
      readonly partId: string;
      readonly turnId: string | null;
      /**
       * Present only in a history: the message that the part answers without a turn, such as a
       * command.
       */
      readonly answers?: string;
      readonly text: string;
      /** The part's file, shown above its text; its bytes are at `/sent/PART`. */
      readonly file?: WebFile;
      /** Buttons shown below the text; pressing one has the same effect as typing its data. */
      readonly buttons?: readonly Button[];
      readonly at: number;
      /** As for messages. */
      readonly isRewound?: true;
    }
  /** A message or part that was replaced by a later message and is no longer shown. */
  | { readonly type: 'replaced'; readonly id: string }
  /** Earlier entries have changed: a viewer requests the history again. */
  | { readonly type: 'rewound' }
  | { readonly type: 'typing' }
  /**
   * The answer so far, in the channel's dialect; each event replaces the text shown for this turn.
   */
  | { readonly type: 'stream'; readonly turnId: string; readonly text: string }
  /** A tool that the turn has called; the event is sent again when the call has completed. */
  | ({ readonly type: 'tool' } & ToolCallOfTurn)
  /** The turn is over; without a part, the turn was stopped or the agent chose not to answer. */
  | { readonly type: 'stream-end'; readonly turnId: string }
  /**
   * Any conversation has changed, or a request waits for a person: the page requests its lists and
   * counts again.
   */
  | { readonly type: 'changed' };

/** A file of a message, at `/files/MESSAGE/INDEX`, where INDEX is its position in the list. */
export interface WebFile {
  readonly kind: Attachment['kind'] | OutboundFile['kind'];
  /** Chosen by the file's sender, so never trusted. */
  readonly name: string | null;
  readonly size: number | null;
  /** Whether the file can be downloaded; bytes are kept only for a limited time. */
  readonly isKept: boolean;
}

/** A chat in the list, newest first; `title` is the beginning of its first text. */
export interface WebChat {
  readonly id: string;
  readonly conversation: string;
  readonly title: string;
  readonly at: number;
  /** When a message part was last sent to the chat, in ms; 0 if none was sent. */
  readonly answeredAt: number;
}

/** One entry of the history as sent to the page, with the ids that the events use. */
export type WebHistoryEntry =
  | Extract<WebEvent, { type: 'part' | 'replaced' }>
  | (Extract<WebEvent, { type: 'inbound' }> & {
      readonly outcome: string | null;
      /** The turn whose parts answer the message; null when none has started. */
      readonly turnId: string | null;
    });

/** The response of `/history`: the newest entries, oldest first. */
export interface WebHistory {
  readonly entries: readonly WebHistoryEntry[];
  readonly commands: readonly Pick<CommandInfo, 'name' | 'summary'>[];
  /** The tool calls of the turns of these answers. */
  readonly calls?: readonly ToolCallOfTurn[];
  /** The maximum number of bytes per file, and of all files of a message together. */
  readonly limits?: { readonly file: number; readonly message: number };
}

/** The response of `/messages` to an accepted message; `at` is the time of its arrival, in ms. */
export interface WebReceipt {
  readonly outcome: IngressOutcome;
  readonly at: number;
}

export function toWebHistoryEntry(entry: HistoryEntry): WebHistoryEntry {
  if (entry.kind === 'inbound') {
    const { messageId, text, at, outcome, turnId = null, isRewound } = entry;
    const files = (entry.files ?? []).map(({ kind, name, size, isKept }) => {
      return { kind, name, size, isKept: isKept === 1 };
    });
    const state = { outcome, turnId, ...(isRewound && { isRewound }) };
    return { type: 'inbound', messageId, text, at, ...state, ...(files.length > 0 && { files }) };
  }
  if (entry.kind === 'replaced') return { type: 'replaced', id: entry.id };
  const { partId, turnId, answers, body, buttons, file, at, isRewound } = entry;
  const of = { turnId, ...(answers !== undefined && { answers }), ...(isRewound && { isRewound }) };
  const more = { ...(buttons && { buttons }), ...(file && { file: toWebFile(file) }) };
  return { type: 'part', partId, ...of, text: body.text, ...more, at };
}

export function toWebFile({ kind, name, size }: OutboundFile): WebFile {
  return { kind, name, size: size ?? null, isKept: true };
}

/**
 * Sends events to the current viewers of a chat. The hub holds only growing answers that are being
 * watched; the tables are the history.
 */
export interface EventHub {
  publish(chatId: string, event: WebEvent): void;
  /**
   * Subscribes to a chat and returns a function that unsubscribes. A growing answer is sent
   * immediately, because its next update may come late.
   */
  watch(chatId: string, listener: (event: WebEvent) => void): () => void;
  /** Whether the chat has viewers; without viewers, previews need not be rendered. */
  isWatched(chatId: string): boolean;
}

export function createEventHub(): EventHub {
  const watchers = new Map<string, Set<(event: WebEvent) => void>>();
  const growing = new Map<string, Extract<WebEvent, { type: 'stream' }>>();
  const note = (chatId: string, event: WebEvent): void => {
    if (event.type === 'stream') growing.set(chatId, event);
    const isOver = event.type === 'part' || event.type === 'stream-end';
    if (isOver && event.turnId === growing.get(chatId)?.turnId) growing.delete(chatId);
  };
  return {
    publish(chatId, event) {
      if (watchers.has(chatId)) note(chatId, event);
      for (const listener of [...(watchers.get(chatId) ?? [])]) listener(event);
    },
    watch(chatId, listener) {
      const listeners = watchers.get(chatId) ?? new Set();
      listeners.add(listener);
      watchers.set(chatId, listeners);
      const unfinished = growing.get(chatId);
      if (unfinished !== undefined) listener(unfinished);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        watchers.delete(chatId);
        growing.delete(chatId);
      };
    },
    isWatched: (chatId) => watchers.has(chatId),
  };
}

interface FollowingHubDeps {
  readonly chatId: string;
  /** Returns the newest entries, oldest first. */
  readonly newest: () => Promise<readonly WebHistoryEntry[]>;
  readonly log: Logger;
  /** `POLL_INTERVAL_MS` when absent. */
  readonly everyMs?: number;
}

/** The polling interval for messages and answers handled by other gateways, in ms. */
const POLL_INTERVAL_MS = 1_000;

/**
 * The hub of a chat that other gateways serve as well: it also reports messages and answers that
 * they handle. Entries of other gateways are in the shared history, which is polled while the chat
 * has viewers. An entry that a viewer receives twice has the same id.
 */
export function createFollowingHub(hub: EventHub, deps: FollowingHubDeps): EventHub {
  const { chatId, newest, log, everyMs = POLL_INTERVAL_MS } = deps;
  /** Undefined until the first read, because a new viewer requests the history itself. */
  let known: Set<string> | undefined;
  let rewound = 0;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const entries = await newest();
    for (const entry of entries) {
      if (known !== undefined && !known.has(getEntryId(entry))) hub.publish(chatId, entry);
    }
    const count = entries.filter((one) => one.type !== 'replaced' && one.isRewound).length;
    if (known !== undefined && count > rewound) hub.publish(chatId, { type: 'rewound' });
    rewound = count;
    known = new Set(entries.map(getEntryId));
  };
  const follow = async (): Promise<void> => {
    try {
      await look();
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'changes by other gateways cannot be read');
    }
    timer = hub.isWatched(chatId)
      ? setTimeout(guarded('follow', follow), everyMs).unref()
      : undefined;
    if (timer === undefined) known = undefined;
  };
  return {
    ...hub,
    publish(to, event) {
      if (to === chatId && isEntry(event)) known?.add(getEntryId(event));
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

type WebEntry = Extract<WebEvent, { type: 'inbound' | 'part' | 'replaced' }>;

function isEntry(event: WebEvent): event is WebEntry {
  return event.type === 'inbound' || event.type === 'part' || event.type === 'replaced';
}

function getEntryId(entry: WebEntry): string {
  if (entry.type === 'replaced') return `gone ${entry.id}`;
  return entry.type === 'inbound' ? `in ${entry.messageId}` : `out ${entry.partId}`;
}

interface EventStreamOptions {
  readonly hub: EventHub;
  readonly chatId: string;
  /** Ends the stream when the signal fires. */
  readonly closing: AbortSignal;
  /**
   * Calls back on changes in any chat, for a page that shows more than one; returns a function that
   * unsubscribes.
   */
  readonly onChange?: ((listener: () => void) => () => void) | undefined;
}

/** Changes within this time are merged into one event, in ms. */
const CHANGES_JOIN_MS = 250;

/** Proxies and browsers close a stream that is silent for a minute. */
const KEEP_ALIVE_MS = 20_000;
/**
 * A viewer that lags this many bytes behind receives no previews, because the next preview contains
 * the whole text again.
 */
const SLOW_BYTES = 256_000;
/**
 * A viewer that lags this many bytes behind has stopped reading; it is disconnected and can reload
 * the history.
 */
const LOST_BYTES = 8_000_000;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Asks proxies not to buffer events.
  'x-accel-buffering': 'no',
};

/**
 * Live events of a chat for one viewer, as server-sent events, until either side ends the stream.
 */
export function createEventStream(options: EventStreamOptions): Response {
  let end = (): void => undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        end = feedEvents(controller, options, () => controller.close());
      },
      cancel: () => end(),
    },
    // Counts the unread bytes; the count decreases as the viewer reads.
    new ByteLengthQueuingStrategy({ highWaterMark: LOST_BYTES }),
  );
  return new Response(body, { headers: HEADERS });
}

/** Writes events into a stream; returns a function that stops the writer. */
function feedEvents(
  controller: ReadableStreamDefaultController<Uint8Array>,
  { hub, chatId, closing, onChange }: EventStreamOptions,
  close: () => void,
): () => void {
  const encoder = new TextEncoder();
  const write = (event: WebEvent | { readonly type: 'alive' }): void => {
    const behind = LOST_BYTES - (controller.desiredSize ?? 0);
    if (behind >= LOST_BYTES) finish();
    else if (behind < SLOW_BYTES || event.type !== 'stream') {
      controller.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
    }
  };
  const unwatch = hub.watch(chatId, write);
  let changed: NodeJS.Timeout | undefined;
  const unsubscribe = onChange?.(() => {
    changed ??= setTimeout(
      guarded('changes', () => {
        changed = undefined;
        write({ type: 'changed' });
      }),
      CHANGES_JOIN_MS,
    ).unref();
  });
  const alive = setInterval(
    guarded('keep-alive', () => write({ type: 'alive' })),
    KEEP_ALIVE_MS,
  );
  alive.unref();
  const end = (): void => {
    clearInterval(alive);
    clearTimeout(changed);
    unsubscribe?.();
    unwatch();
    closing.removeEventListener('abort', finish);
  };
  const finish = (): void => {
    end();
    close();
  };
  closing.addEventListener('abort', finish, { once: true });
  write({ type: 'alive' });
  return end;
}
