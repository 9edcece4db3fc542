import { sliceOf } from './getters.ts';
import type { QueueScope } from './queue-scope.ts';

interface MetricRow {
  count: number;
  prev_ts: number;
  prev_count: number;
  points: string;
}

const MINUTE_MS = 60_000;

/** Counts one finished job, and closes the data points of the minutes that are over. */
export function collectMetric(scope: QueueScope, kind: string, maxDataPoints: number): void {
  const before = readMetric(scope, kind);
  if (!before) {
    storeMetric(scope, kind, { count: 1, prev_ts: scope.now, prev_count: 0, points: '[]' });
    return;
  }
  const count = before.count + 1;
  const minutes = Math.min(
    Math.floor(scope.now / MINUTE_MS) - Math.floor(before.prev_ts / MINUTE_MS),
    maxDataPoints,
  );
  if (minutes <= 0) {
    storeMetric(scope, kind, { ...before, count });
    return;
  }
  // Newest first. The jobs counted so far belong to the minute that is over, this one does not.
  const closed = [...Array<number>(minutes - 1).fill(0), before.count - before.prev_count];
  const points = [...closed, ...(JSON.parse(before.points) as number[])].slice(0, maxDataPoints);
  storeMetric(scope, kind, {
    count,
    prev_ts: scope.now,
    prev_count: before.count,
    points: JSON.stringify(points),
  });
}

/** `[[total, time of the last point, total then], points newest first, number of points]`. */
export function getMetrics(
  scope: QueueScope,
  kind: string,
  start: number,
  end: number,
): [string[], string[], number] {
  const row = readMetric(scope, kind);
  if (!row) return [[], [], 0];
  const points = JSON.parse(row.points) as number[];
  const [offset, limit] = sliceOf(start, end, () => points.length);
  const page = points.slice(offset, limit < 0 ? undefined : offset + limit);
  const meta = [row.count, row.prev_ts, row.prev_count];
  return [meta.map(String), page.map(String), points.length];
}

function readMetric(scope: QueueScope, kind: string): MetricRow | undefined {
  return scope.file.get<MetricRow>(
    'SELECT count, prev_ts, prev_count, points FROM metric WHERE queue_id = ? AND kind = ?',
    scope.queueId,
    kind,
  );
}

function storeMetric(scope: QueueScope, kind: string, row: MetricRow): void {
  scope.file.run(
    `INSERT OR REPLACE INTO metric (queue_id, kind, count, prev_ts, prev_count, points)
     VALUES (?, ?, ?, ?, ?, ?)`,
    scope.queueId,
    kind,
    row.count,
    row.prev_ts,
    row.prev_count,
    row.points,
  );
}
