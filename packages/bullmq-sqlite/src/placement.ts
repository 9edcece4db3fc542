import type { QueueScope } from './queue-scope.ts';

/** Where in line a job is put: behind everybody of its lane, or before them. */
export type LineEnd = 'back' | 'front';

/** A job's standing: the three columns that change together whenever a job moves. */
export interface Standing {
  readonly state: 'waiting' | 'delayed';
  readonly lane: number;
  readonly rank: number;
}

/** A place among the waiting jobs of one priority; priority 0 is the lane that runs first. */
export function waitingStanding(scope: QueueScope, priority: number, end: LineEnd): Standing {
  const edge = end === 'back' ? lastRank(scope, priority) : firstRank(scope, priority);
  return { state: 'waiting', lane: priority, rank: end === 'back' ? edge + 1 : edge - 1 };
}

/** A place among the delayed jobs; due `delay` ms after `from` (Unix ms), or at once for 0. */
export function delayedStanding(from: number, delay: number): Standing {
  return { state: 'delayed', lane: 0, rank: Math.floor(from + Math.max(delay, 0)) };
}

/** Moves a job, and takes away whatever lock it had. */
export function moveJob(scope: QueueScope, seq: number, to: Standing, delay: number): void {
  scope.file.run(
    'UPDATE job SET state = ?, lane = ?, rank = ?, delay = ?, lock_token = NULL, lock_until = 0, suspect = 0 WHERE seq = ?',
    to.state,
    to.lane,
    to.rank,
    Math.floor(delay),
    seq,
  );
}

const RANKS =
  "SELECT rank FROM job WHERE queue_id = ? AND state = 'waiting' AND lane = ? ORDER BY rank";

function lastRank(scope: QueueScope, lane: number): number {
  return scope.file.get<{ rank: number }>(`${RANKS} DESC LIMIT 1`, scope.queueId, lane)?.rank ?? 0;
}

function firstRank(scope: QueueScope, lane: number): number {
  return scope.file.get<{ rank: number }>(`${RANKS} ASC LIMIT 1`, scope.queueId, lane)?.rank ?? 0;
}
