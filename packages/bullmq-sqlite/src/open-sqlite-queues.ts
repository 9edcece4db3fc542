import type { BackendFactory, IQueueBackend } from 'bullmq';
import { SqliteQueueBackend } from './backend.ts';
import { readWorkerSettings, SharedFile } from './backend-base.ts';
import { releaseActiveJobs } from './claim-job.ts';
import { appendEvents } from './events.ts';
import { OpenerRegistry } from './openers.ts';
import type { Synchronous } from './queue-file.ts';
import { QueueScope } from './queue-scope.ts';

export interface SqliteQueuesOptions {
  /** The path of the database; the file and its folder are created if missing. */
  readonly file: string;
  /** Durability across power cuts, by default `normal`; see {@link Synchronous}. */
  readonly synchronous?: Synchronous;
  /**
   * How often to check for jobs and events from other processes, in ms; 0 means never, and the
   * default is 20, or 0 for `:memory:`.
   */
  readonly pollOtherProcessesMs?: number;
  /** How long to wait for another process's write lock, in ms; 5,000 by default. */
  readonly busyTimeoutMs?: number;
  /**
   * Whether to store events for `QueueEvents` and `waitUntilFinished`, which otherwise receive
   * none; true by default.
   */
  readonly events?: boolean;
  /** Returns Unix ms; tests replace it. */
  readonly clock?: () => number;
}

/** A job that {@link SqliteQueues.releaseOrphans} put back in line. */
export interface ReleasedJob {
  /** `<prefix>:<queue>`. */
  readonly queue: string;
  readonly jobId: string;
}

/** An open queue file, which owns the connection that all queues and workers share. */
export interface SqliteQueues extends Disposable {
  readonly file: string;
  /** Pass this factory as the last argument of `new Queue`, `new Worker` and `new QueueEvents`. */
  readonly backend: BackendFactory<IQueueBackend>;
  /**
   * Puts jobs that a crashed process left active back in line immediately, instead of when their
   * lock expires. Call it before the first worker starts. Throws {@link SqliteQueueError}
   * `queue-file-shared` if the file is also open elsewhere, because those jobs may be running
   * there. A job that has already been left active `maxStalledCount` times (default: no limit)
   * fails at its next start.
   */
  releaseOrphans(options?: { readonly maxStalledCount?: number }): ReleasedJob[];
  /**
   * Closes the file; queues and workers must be closed first, and later operations are rejected.
   */
  close(): void;
}

const DEFAULT_BUSY_TIMEOUT_MS = 5000;
/** A check takes a few microseconds, so polling uses far less than a thousandth of a core. */
const DEFAULT_POLL_MS = 20;

/** Opens or creates a queue file; throws {@link SqliteQueueError} if that is not possible. */
export function openSqliteQueues(options: SqliteQueuesOptions): SqliteQueues {
  const isShareable = options.file !== ':memory:';
  const busyTimeoutMs = options.busyTimeoutMs ?? DEFAULT_BUSY_TIMEOUT_MS;
  const shared = new SharedFile(
    options.file,
    {
      synchronous: options.synchronous ?? 'normal',
      busyTimeoutMs,
      events: options.events ?? true,
    },
    // The clock is looked up on each call, because fake timers may replace it after the file was
    // opened.
    options.clock ?? (() => Date.now()),
  );
  const openers = isShareable ? new OpenerRegistry(options.file, busyTimeoutMs) : null;
  const pollMs = options.pollOtherProcessesMs ?? (isShareable ? DEFAULT_POLL_MS : 0);
  if (pollMs > 0) shared.startPolling(pollMs);
  const close = () => {
    shared.close();
    openers?.close();
  };
  return {
    file: options.file,
    backend: createBackendFactory(shared),
    releaseOrphans({ maxStalledCount = Number.POSITIVE_INFINITY } = {}) {
      const release = () => releaseOrphanedJobs(shared, maxStalledCount);
      return openers ? openers.alone(release) : release();
    },
    close,
    [Symbol.dispose]: close,
  };
}

function createBackendFactory(shared: SharedFile): BackendFactory<IQueueBackend> {
  return (queueName, opts, role = {}) => {
    const settings = readWorkerSettings(opts);
    const prefix = 'prefix' in opts && typeof opts.prefix === 'string' ? opts.prefix : undefined;
    const backend = new SqliteQueueBackend(shared, queueName, prefix, settings);
    if (role.withBlockingConnection) {
      const suffix = settings.name ? `:w:${settings.name}` : '';
      shared.clients.set(backend, backend.clientName(suffix));
    }
    return backend;
  };
}

function releaseOrphanedJobs(shared: SharedFile, maxStalledCount: number): ReleasedJob[] {
  const { file, clock, wakeUps, news } = shared;
  const released = file.transaction(() =>
    file.all<{ id: number; name: string }>('SELECT id, name FROM queue').flatMap(({ id, name }) => {
      const scope = new QueueScope(file, id, clock());
      const jobIds = releaseActiveJobs(scope, maxStalledCount);
      appendEvents(scope);
      return jobIds.map((jobId) => ({ queue: name, jobId }));
    }),
  );
  wakeUps.reconsiderAll();
  news.announceAll();
  return released;
}
