import { EventEmitter } from 'node:events';
// The function is imported because fake timers replace the global `setImmediate`, but readers must
// keep running.
import { setImmediate } from 'node:timers';
import type { QueueFile } from './queue-file.ts';
import { getMaxEvents, type QueueScope } from './queue-scope.ts';

/** One entry as BullMQ reads it: the id and a flat `[key, value, …]` list, as in a Redis stream. */
export type EventEntry = [id: string, fields: string[]];

/** The maximum number of events per row; events from one operation share a row where possible. */
const ENTRIES_PER_ROW = 100;
/** Row ids are Unix ms times this factor, plus a counter, so they sort by time and never repeat. */
const ROWS_PER_MS = 1000;
/**
 * The history is trimmed about once per this many rows, because trimming on every write would cost
 * too much.
 */
const ROWS_BETWEEN_TRIMS = 256;
/** The maximum number of rows read in one call. */
const ROWS_PER_READ = 100;

/** Writes the events collected by an operation and returns the id of the last one. */
export function appendEvents(scope: QueueScope): string | undefined {
  const events = scope.takeEvents();
  let lastId: string | undefined;
  for (let start = 0; start < events.length; start += ENTRIES_PER_ROW) {
    const entries = events.slice(start, start + ENTRIES_PER_ROW);
    const rowId = Math.max(
      getLastEventRowId(scope.file, scope.queueId) + 1,
      scope.now * ROWS_PER_MS,
    );
    scope.run(
      'INSERT INTO event (queue_id, id, entries) VALUES (?, ?, ?)',
      rowId,
      JSON.stringify(entries),
    );
    if (rowId % ROWS_BETWEEN_TRIMS === 0) trimEvents(scope, getMaxEvents(scope));
    lastId = formatEntryId(rowId, entries.length - 1);
  }
  return lastId;
}

/**
 * Trims the history to about `maxLength` events, assuming two per operation, and returns the number
 * of rows removed.
 */
export function trimEvents(scope: QueueScope, maxLength: number): number {
  return scope.run(
    `DELETE FROM event WHERE queue_id = ?1 AND id <= (
       SELECT id FROM event WHERE queue_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
    Math.ceil(maxLength / 2),
  );
}

/** Reads the events after the cursor, oldest first. */
export function readEventsAfter(file: QueueFile, queueId: number, cursor: string): EventEntry[] {
  const [rowId, index] = parseCursor(cursor);
  const rows = file.all<{ id: number; entries: string }>(
    'SELECT id, entries FROM event WHERE queue_id = ? AND id >= ? ORDER BY id LIMIT ?',
    queueId,
    rowId,
    ROWS_PER_READ,
  );
  return rows.flatMap((row) => {
    const entries = JSON.parse(row.entries) as string[][];
    const seen = row.id === rowId ? index + 1 : 0;
    return entries
      .slice(seen)
      .map((fields, at): EventEntry => [formatEntryId(row.id, seen + at), fields]);
  });
}

/** Returns a cursor after all existing events, like `$` in Redis. */
export function findEndOfEvents(file: QueueFile, queueId: number): string {
  return formatEntryId(getLastEventRowId(file, queueId), ENTRIES_PER_ROW - 1);
}

function getLastEventRowId(file: QueueFile, queueId: number): number {
  return (
    file.get<{ id: number }>(
      'SELECT id FROM event WHERE queue_id = ? ORDER BY id DESC LIMIT 1',
      queueId,
    )?.id ?? 0
  );
}

/** Formats an entry id as `<ms>-<n>`, so that a cursor made from a time works as with Redis. */
function formatEntryId(rowId: number, index: number): string {
  const ms = Math.floor(rowId / ROWS_PER_MS);
  return `${ms}-${(rowId % ROWS_PER_MS) * ENTRIES_PER_ROW + index}`;
}

/**
 * Parses a cursor into the row id and index of the last event seen. An invalid cursor means "from
 * the beginning".
 */
function parseCursor(cursor: string): [rowId: number, index: number] {
  const [ms = '0', n = '-1'] = cursor.split('-');
  const position = Number.parseInt(n || '-1', 10);
  const rowId = (Number.parseInt(ms, 10) || 0) * ROWS_PER_MS;
  if (!(position >= 0)) return [rowId, -1];
  return [rowId + Math.floor(position / ENTRIES_PER_ROW), position % ENTRIES_PER_ROW];
}

/**
 * Wakes readers of a queue's event history in the event loop turn after a write. The writer
 * continues before its readers, so a job announced as active can be cancelled immediately.
 */
export class EventNotifier {
  // Each waiting QueueEvents adds a listener, so Node's warning about listener leaks does not
  // apply.
  readonly #emitter = new EventEmitter().setMaxListeners(0);

  announce(queueId: number): void {
    this.#emitter.emit(String(queueId));
  }

  /** Called when another process has committed unknown changes. */
  announceAll(): void {
    for (const queue of this.#emitter.eventNames()) this.#emitter.emit(queue);
  }

  /**
   * Resolves at the next announcement, after `timeoutMs` (0 means no timeout) or when `signal`
   * fires.
   */
  wait(queueId: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const queue = String(queueId);
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = timeoutMs > 0 ? setTimeout(() => done(), timeoutMs) : undefined;
      const done = () => {
        clearTimeout(timer);
        this.#emitter.off(queue, done);
        signal.removeEventListener('abort', done);
        setImmediate(resolve);
      };
      this.#emitter.on(queue, done);
      signal.addEventListener('abort', done);
    });
  }
}
