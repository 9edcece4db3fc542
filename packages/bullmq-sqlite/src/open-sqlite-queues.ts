import type { BackendFactory, IQueueBackend } from 'bullmq';
import { SqliteQueueBackend } from './backend.ts';
import { SharedFile, workerSettings } from './backend-base.ts';
import { releaseActiveJobs } from './claim-job.ts';
import { appendEvents } from './events.ts';
import { Openers } from './openers.ts';
import type { Synchronous } from './queue-file.ts';
import { QueueScope } from './queue-scope.ts';

/** The options of opening a queue file. */
export interface SqliteQueuesOptions {
  /** Path of the database; it and its folder are made when missing. */
  readonly file: string;
  /** The durability against power cuts; see {@link Synchronous}. Default `normal`. */
  readonly synchronous?: Synchronous;
  /** Look this often (ms) for jobs and events of other processes; 0: never. Default 20, for `:memory:` 0. */
  readonly pollOtherProcessesMs?: number;
  /** Wait this long (ms) for the write lock of another process. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Whether events are kept for `QueueEvents` and `waitUntilFinished`, which see none otherwise. Default: yes. */
  readonly events?: boolean;
  /** Unix ms; for tests. */
  readonly clock?: () => number;
}

/** A job that {@link SqliteQueues.releaseOrphans} put back in line. */
export interface ReleasedJob {
  /** `<prefix>:<queue>`. */
  readonly queue: string;
  readonly jobId: string;
}

/** An open queue file: the owner of the connection that all queues and workers share. */
export interface SqliteQueues extends Disposable {
  readonly file: string;
  /** Pass this as the last argument of `new Queue`, `Worker` and `QueueEvents`. */
  readonly backend: BackendFactory<IQueueBackend>;
  /**
   * Puts jobs back in line that a dead process left active, at once instead of when their lock runs
   * out. Call it before the first worker starts. Throws {@link SqliteQueueError} `queue-file-shared` while the file is
   * open elsewhere too, as those jobs may be in work there.
   * A job that was left `maxStalledCount` times already (default: any number) fails at its next start.
   */
  releaseOrphans(options?: { readonly maxStalledCount?: number }): ReleasedJob[];
  /** Closes the file. Close queues and workers first; operations after this are rejected. */
  close(): void;
}

const DEFAULT_BUSY_TIMEOUT_MS = 5000;
/** A look takes some microseconds: a fraction of a thousandth of a core. */
const DEFAULT_POLL_MS = 20;

/** Opens (or makes) a queue file. Throws {@link SqliteQueueError} when that is not possible. */
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
    // Looked up at each call: fake timers replace it after the file was opened.
    options.clock ?? (() => Date.now()),
  );
  const openers = isShareable ? new Openers(options.file, busyTimeoutMs) : null;
  const pollMs = options.pollOtherProcessesMs ?? (isShareable ? DEFAULT_POLL_MS : 0);
  if (pollMs > 0) shared.startPolling(pollMs);
  const close = () => {
    shared.close();
    openers?.close();
  };
  return {
    file: options.file,
    backend: backendFactory(shared),
    releaseOrphans({ maxStalledCount = Number.POSITIVE_INFINITY } = {}) {
      const release = () => releaseOrphans(shared, maxStalledCount);
      return openers ? openers.alone(release) : release();
    },
    close,
    [Symbol.dispose]: close,
  };
}

function backendFactory(shared: SharedFile): BackendFactory<IQueueBackend> {
  return (queueName, opts, role = {}) => {
    const settings = workerSettings(opts);
    const prefix = 'prefix' in opts && typeof opts.prefix === 'string' ? opts.prefix : undefined;
    const backend = new SqliteQueueBackend(shared, queueName, prefix, settings);
    if (role.withBlockingConnection) {
      const suffix = settings.name ? `:w:${settings.name}` : '';
      shared.clients.set(backend, backend.clientName(suffix));
    }
    return backend;
  };
}

function releaseOrphans(shared: SharedFile, maxStalledCount: number): ReleasedJob[] {
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
