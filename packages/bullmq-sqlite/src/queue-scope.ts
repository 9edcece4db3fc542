import type { SQLInputValue } from 'node:sqlite';
import type { QueueFile } from './queue-file.ts';

/** The fields of an event besides its name, stored as strings like in Redis streams. */
export type EventFields = Readonly<Record<string, string | number>>;

/** The queue's control row: its counters and the settings shared by all processes. */
export interface QueueControl {
  readonly meta: Readonly<Record<string, string>>;
  readonly limiterCount: number;
  /** When the limiter's count expires, in Unix ms. */
  readonly limiterUntil: number;
  readonly stalledCheckUntil: number;
}

/** Whether jobs may start in a queue, now and later. */
export interface QueueReadiness {
  /** Whether any job is in line. */
  readonly waits: boolean;
  /** When the earliest delayed job is due, in Unix ms; `Infinity` if there are none. */
  readonly dueAt: number;
}

interface ControlRow {
  meta: string;
  limiter_count: number;
  limiter_until: number;
  stalled_check_until: number;
}

interface QueueReadinessRow extends ControlRow {
  waits: number;
  due_at: number | null;
}

/** The worker settings that BullMQ passes to its backend; all durations in ms. */
export interface WorkerSettings {
  readonly name?: string;
  readonly lockDuration?: number;
  readonly limiter?: { readonly max: number; readonly duration: number };
  readonly maxStalledCount?: number;
  readonly stalledInterval?: number;
  readonly removeOnComplete?: unknown;
  readonly removeOnFail?: unknown;
  readonly metrics?: { readonly maxDataPoints?: number };
}

/**
 * One queue during one operation: the open transaction, a single reading of the clock, and the
 * events to be written together with the operation's changes.
 */
export class QueueScope {
  readonly file: QueueFile;
  readonly queueId: number;
  /** The time of the operation in Unix ms; it does not change while the operation runs. */
  readonly now: number;
  /** Null if events are not stored. */
  #events: string[][] | null;
  #control: QueueControl | undefined;

  constructor(file: QueueFile, queueId: number, now: number) {
    this.file = file;
    this.queueId = queueId;
    this.now = now;
    this.#events = file.keepsEvents ? [] : null;
  }

  /**
   * Runs a statement whose first parameter is the queue id and returns the number of changed rows.
   */
  run(sql: string, ...params: SQLInputValue[]): number {
    return this.file.run(sql, this.queueId, ...params);
  }

  /** Returns the first row of a query whose first parameter is the queue id. */
  get<Row>(sql: string, ...params: SQLInputValue[]): Row | undefined {
    return this.file.get<Row>(sql, this.queueId, ...params);
  }

  all<Row>(sql: string, ...params: SQLInputValue[]): Row[] {
    return this.file.all<Row>(sql, this.queueId, ...params);
  }

  /** Whether events passed to `emit` are stored. */
  get keepsEvents(): boolean {
    return this.#events !== null;
  }

  /** Adds an event to be written at the end of the operation. */
  emit(name: string, fields: EventFields = {}): void {
    if (this.#events === null) return;
    const entry = ['event', name];
    for (const key in fields) entry.push(key, String(fields[key]));
    this.#events.push(entry);
  }

  /** Returns the events collected so far and clears the list. */
  takeEvents(): string[][] {
    return this.#events?.splice(0) ?? [];
  }

  get control(): QueueControl {
    this.#control ??= this.#readControl();
    return this.#control;
  }

  /** Reads all values that a claim depends on, including the control row, in one statement. */
  outlook(): QueueReadiness {
    const row = this.file.getAgain<QueueReadinessRow>(
      `SELECT meta, limiter_count, limiter_until, stalled_check_until,
         EXISTS (SELECT 1 FROM job WHERE queue_id = queue.id AND state = 'waiting') AS waits,
         (SELECT rank FROM job WHERE queue_id = queue.id AND state = 'delayed'
          ORDER BY lane, rank LIMIT 1) AS due_at
       FROM queue WHERE id = ?`,
      this.queueId,
    );
    this.#control = toControl(row);
    return { waits: row?.waits === 1, dueAt: row?.due_at ?? Number.POSITIVE_INFINITY };
  }

  /** Call this after changing the control row, so that the operation sees its own change. */
  forgetControl(): void {
    this.#control = undefined;
  }

  #readControl(): QueueControl {
    const row = this.file.getAgain<ControlRow>(
      'SELECT meta, limiter_count, limiter_until, stalled_check_until FROM queue WHERE id = ?',
      this.queueId,
    );
    return toControl(row);
  }
}

function toControl(row: ControlRow | undefined): QueueControl {
  return {
    meta: parseMeta(row?.meta),
    limiterCount: row?.limiter_count ?? 0,
    limiterUntil: row?.limiter_until ?? 0,
    stalledCheckUntil: row?.stalled_check_until ?? 0,
  };
}

/**
 * Returns the row id of a queue, creating the row on first use. Rows are never deleted, so the id
 * may be cached.
 */
export function getQueueId(file: QueueFile, name: string): number {
  const known = file.get<{ id: number }>('SELECT id FROM queue WHERE name = ?', name);
  if (known) return known.id;
  file.run('INSERT INTO queue (name) VALUES (?) ON CONFLICT DO NOTHING', name);
  const made = file.get<{ id: number }>('SELECT id FROM queue WHERE name = ?', name);
  return made?.id ?? 0;
}

function parseMeta(text: string | undefined): Record<string, string> {
  return JSON.parse(text ?? '{}') as Record<string, string>;
}

/** BullMQ's default length for the event history, in events. */
const DEFAULT_MAX_EVENTS = 10_000;

/**
 * Whether no job may start, because the queue is paused or has reached its global concurrency
 * limit.
 */
export function isPausedOrAtLimit(scope: QueueScope): boolean {
  return scope.control.meta.paused !== undefined || isAtConcurrencyLimit(scope);
}

/** Whether the queue's global concurrency is used up. */
export function isAtConcurrencyLimit(scope: QueueScope): boolean {
  const limit = scope.control.meta.concurrency;
  if (limit === undefined) return false;
  const row = scope.get<{ n: number }>(
    "SELECT count(*) AS n FROM job WHERE queue_id = ? AND state = 'active'",
  );
  return (row?.n ?? 0) >= Number(limit);
}

/** Returns the approximate number of events that the queue keeps. */
export function getMaxEvents(scope: QueueScope): number {
  const limit = scope.control.meta['opts.maxLenEvents'];
  return limit === undefined ? DEFAULT_MAX_EVENTS : Number(limit);
}

/** Sets fields and returns how many of them are new, like HSET in Redis. */
export function setMeta(scope: QueueScope, values: Record<string, string | number>): number {
  const before = scope.control.meta;
  const after: Record<string, string> = { ...before };
  for (const [field, value] of Object.entries(values)) after[field] = String(value);
  if (Object.keys(values).some((field) => before[field] !== after[field])) {
    storeMeta(scope, after);
  }
  return Object.keys(after).length - Object.keys(before).length;
}

/** Removes fields and returns how many of them existed. */
export function removeMeta(scope: QueueScope, fields: readonly string[]): number {
  const before = scope.control.meta;
  const after = Object.fromEntries(Object.entries(before).filter(([key]) => !fields.includes(key)));
  const removed = Object.keys(before).length - Object.keys(after).length;
  if (removed > 0) storeMeta(scope, after);
  return removed;
}

/** Pauses or resumes the queue for all workers in all processes. */
export function setPaused(scope: QueueScope, paused: boolean): void {
  if (paused) setMeta(scope, { paused: 1 });
  else removeMeta(scope, ['paused']);
  scope.emit(paused ? 'paused' : 'resumed');
}

function storeMeta(scope: QueueScope, meta: Record<string, string>): void {
  scope.file.run('UPDATE queue SET meta = ? WHERE id = ?', JSON.stringify(meta), scope.queueId);
  scope.forgetControl();
}

/** Redis's answer for the remaining lifetime of a key that does not exist. */
const NO_LIMIT_SET = -2;

/**
 * Returns the remaining time of the current window in ms if `max` jobs have started in it, or 0 if
 * a job may start.
 */
export function getRateLimitTtl(scope: QueueScope, max: number | undefined): number {
  if (max === undefined) return 0;
  const { limiterCount, limiterUntil } = scope.control;
  if (limiterUntil <= scope.now || limiterCount < max) return 0;
  return limiterUntil - scope.now;
}

/** Returns the remaining time of the window in ms for any count, or -2 without a window. */
export function getWindowTtl(scope: QueueScope): number {
  const left = scope.control.limiterUntil - scope.now;
  return left > 0 ? left : NO_LIMIT_SET;
}

/** Counts one started job and opens a new window of `duration` ms if the old one has ended. */
export function countStartedJob(scope: QueueScope, duration: number): void {
  const { limiterCount, limiterUntil } = scope.control;
  const isOver = limiterUntil <= scope.now;
  const count = isOver ? 1 : limiterCount + 1;
  const until = isOver ? scope.now + Math.floor(Math.abs(duration)) : limiterUntil;
  storeLimiter(scope, count, until);
}

/** Stops all rate-limited workers for `ms`, regardless of their own limit. */
export function setRateLimit(scope: QueueScope, ms: number): void {
  // Half of the largest integer is above every limit, and leaves room for further counting.
  storeLimiter(scope, Number.MAX_SAFE_INTEGER / 2, scope.now + Math.ceil(ms));
}

/** Ends the current window; returns 1 if there was one. */
export function clearRateLimit(scope: QueueScope): number {
  const had = scope.control.limiterUntil > scope.now ? 1 : 0;
  storeLimiter(scope, 0, 0);
  return had;
}

/**
 * Returns the time for BullMQ's `getRateLimitTtl`; the default for `maxJobs` is the queue's own
 * limit.
 */
export function getReportedTtl(scope: QueueScope, maxJobs: number | undefined): number {
  if (maxJobs) return getRateLimitTtl(scope, maxJobs);
  const shared = scope.control.meta.max;
  return shared === undefined ? getWindowTtl(scope) : getRateLimitTtl(scope, Number(shared));
}

function storeLimiter(scope: QueueScope, count: number, until: number): void {
  scope.file.run(
    'UPDATE queue SET limiter_count = ?, limiter_until = ? WHERE id = ?',
    Math.floor(count),
    until,
    scope.queueId,
  );
  scope.forgetControl();
}
