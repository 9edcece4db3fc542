import type { QueueScope } from './queue-scope.ts';

/** What Redis answers for the time left of a key that does not exist. */
const NO_LIMIT_SET = -2;

/** Time left in the current window in ms, when `max` jobs have started in it; 0 when free to start. */
export function rateLimitTtl(scope: QueueScope, max: number | undefined): number {
  if (max === undefined) return 0;
  const { limiterCount, limiterUntil } = scope.control;
  if (limiterUntil <= scope.now || limiterCount < max) return 0;
  return limiterUntil - scope.now;
}

/** Time left in the window in ms whatever its count, or -2 when there is no window. */
export function windowTtl(scope: QueueScope): number {
  const left = scope.control.limiterUntil - scope.now;
  return left > 0 ? left : NO_LIMIT_SET;
}

/** Counts one started job and opens a new window of `duration` ms when the old one is over. */
export function countStartedJob(scope: QueueScope, duration: number): void {
  const { limiterCount, limiterUntil } = scope.control;
  const isOver = limiterUntil <= scope.now;
  const count = isOver ? 1 : limiterCount + 1;
  const until = isOver ? scope.now + Math.floor(Math.abs(duration)) : limiterUntil;
  storeLimiter(scope, count, until);
}

/** Stops all limited workers for `ms`, whatever their own limit. */
export function setRateLimit(scope: QueueScope, ms: number): void {
  // Half of the largest integer: above every limit, with room for counting on.
  storeLimiter(scope, Number.MAX_SAFE_INTEGER / 2, scope.now + Math.ceil(ms));
}

/** Ends the current window and returns 1 when there was one. */
export function clearRateLimit(scope: QueueScope): number {
  const had = scope.control.limiterUntil > scope.now ? 1 : 0;
  storeLimiter(scope, 0, 0);
  return had;
}

/** The time a caller of BullMQ's `getRateLimitTtl` sees; the queue's own limit is the default. */
export function reportedTtl(scope: QueueScope, maxJobs: number | undefined): number {
  if (maxJobs) return rateLimitTtl(scope, maxJobs);
  const shared = scope.control.meta.max;
  return shared === undefined ? windowTtl(scope) : rateLimitTtl(scope, Number(shared));
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
