import type { QueueFile } from './queue-file.ts';

/** What one event carries beside its name; values are stored as strings, as Redis streams do. */
export type EventFields = Readonly<Record<string, string | number>>;

/** The queue's control row: settings shared by all processes, and the counters. */
export interface QueueControl {
  readonly meta: Readonly<Record<string, string>>;
  readonly limiterCount: number;
  /** Unix ms; the limiter's count is void from then on. */
  readonly limiterUntil: number;
  readonly stalledCheckUntil: number;
}

/** What may start in a queue, now and later. */
export interface Outlook {
  /** Whether a job is in line. */
  readonly waits: boolean;
  /** When the earliest delayed job is due, in Unix ms; `Infinity` when there is none. */
  readonly dueAt: number;
}

interface ControlRow {
  meta: string;
  limiter_count: number;
  limiter_until: number;
  stalled_check_until: number;
}

interface OutlookRow extends ControlRow {
  waits: number;
  due_at: number | null;
}

/** Settings of the worker that BullMQ hands to its backend; all durations in ms. */
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
 * events that are written together with the operation's effect.
 */
export class QueueScope {
  readonly file: QueueFile;
  readonly queueId: number;
  /** Unix ms, the same for everything in the operation. */
  readonly now: number;
  /** Null where nobody keeps events. */
  #events: string[][] | null;
  #control: QueueControl | undefined;

  constructor(file: QueueFile, queueId: number, now: number) {
    this.file = file;
    this.queueId = queueId;
    this.now = now;
    this.#events = file.keepsEvents ? [] : null;
  }

  /** Whether anybody may ever read what `emit` adds. */
  get keepsEvents(): boolean {
    return this.#events !== null;
  }

  /** Adds an event to those written at the end of the operation. */
  emit(name: string, fields: EventFields = {}): void {
    if (this.#events === null) return;
    const entry = ['event', name];
    for (const key in fields) entry.push(key, String(fields[key]));
    this.#events.push(entry);
  }

  /** Hands over the events collected so far, once. */
  takeEvents(): string[][] {
    return this.#events?.splice(0) ?? [];
  }

  get control(): QueueControl {
    this.#control ??= this.#readControl();
    return this.#control;
  }

  /** One statement for all that a claim decides by, the control row included. */
  outlook(): Outlook {
    const row = this.file.getAgain<OutlookRow>(
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

  /** Call after changing the control row, so that the operation sees its own change. */
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

/** The row number of a queue, made on first use. Rows are never deleted, so it may be cached. */
export function queueIdOf(file: QueueFile, name: string): number {
  const known = file.get<{ id: number }>('SELECT id FROM queue WHERE name = ?', name);
  if (known) return known.id;
  file.run('INSERT INTO queue (name) VALUES (?) ON CONFLICT DO NOTHING', name);
  const made = file.get<{ id: number }>('SELECT id FROM queue WHERE name = ?', name);
  return made?.id ?? 0;
}

function parseMeta(text: string | undefined): Record<string, string> {
  return JSON.parse(text ?? '{}') as Record<string, string>;
}
