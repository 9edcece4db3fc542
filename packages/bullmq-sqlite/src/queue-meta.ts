import type { QueueScope } from './queue-scope.ts';

/** BullMQ's default length of the event history, in events. */
const DEFAULT_MAX_EVENTS = 10_000;

/** Paused, or as many active jobs as the global concurrency allows: nothing may start. */
export function isPausedOrMaxed(scope: QueueScope): boolean {
  return scope.control.meta.paused !== undefined || isMaxed(scope);
}

/** True when the queue's global concurrency is used up. */
export function isMaxed(scope: QueueScope): boolean {
  const limit = scope.control.meta.concurrency;
  if (limit === undefined) return false;
  const row = scope.file.get<{ n: number }>(
    "SELECT count(*) AS n FROM job WHERE queue_id = ? AND state = 'active'",
    scope.queueId,
  );
  return (row?.n ?? 0) >= Number(limit);
}

/** How many events the queue keeps, roughly. */
export function maxEvents(scope: QueueScope): number {
  const limit = scope.control.meta['opts.maxLenEvents'];
  return limit === undefined ? DEFAULT_MAX_EVENTS : Number(limit);
}

/** Sets fields and returns how many of them are new, like Redis's HSET. */
export function setMeta(scope: QueueScope, values: Record<string, string | number>): number {
  const before = scope.control.meta;
  const after: Record<string, string> = { ...before };
  for (const [field, value] of Object.entries(values)) after[field] = String(value);
  if (Object.keys(values).some((field) => before[field] !== after[field])) {
    storeMeta(scope, after);
  }
  return Object.keys(after).length - Object.keys(before).length;
}

/** Removes fields and returns how many of them there were. */
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
