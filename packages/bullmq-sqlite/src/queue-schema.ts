/**
 * The version stored in `PRAGMA user_version`. There are no migrations: a file with another layout
 * is refused and should be deleted once its jobs are finished.
 */
export const SCHEMA_VERSION = 1;

/** Created whenever a file is opened, because older files with this layout lack it. */
export const EXPIRY_INDEX =
  'CREATE INDEX IF NOT EXISTS dedup_expiring ON dedup (queue_id, expires_at) WHERE expires_at IS NOT NULL';

/**
 * The number of finished jobs per state, stored because counting takes longer when there are more
 * jobs. Older files with this layout get the table when they are next opened; older releases keep
 * it up to date through the triggers.
 */
export const KEPT = `
CREATE TABLE kept (
  queue_id INTEGER NOT NULL,
  state TEXT NOT NULL,
  jobs INTEGER NOT NULL,
  PRIMARY KEY (queue_id, state)
) STRICT, WITHOUT ROWID;
INSERT INTO kept (queue_id, state, jobs)
  SELECT queue_id, state, count(*) FROM job WHERE state IN ('completed', 'failed') GROUP BY 1, 2;
CREATE TRIGGER job_finishes AFTER UPDATE OF state ON job
  WHEN new.state IN ('completed', 'failed') AND old.state <> new.state BEGIN
  INSERT INTO kept (queue_id, state, jobs) VALUES (new.queue_id, new.state, 1)
    ON CONFLICT DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER job_restarts AFTER UPDATE OF state ON job
  WHEN old.state IN ('completed', 'failed') AND old.state <> new.state BEGIN
  UPDATE kept SET jobs = jobs - 1 WHERE queue_id = old.queue_id AND state = old.state;
END;
CREATE TRIGGER finished_job_goes AFTER DELETE ON job
  WHEN old.state IN ('completed', 'failed') BEGIN
  UPDATE kept SET jobs = jobs - 1 WHERE queue_id = old.queue_id AND state = old.state;
END;
`;

/**
 * One row per job in any state.
 *
 * `state` and `(lane, rank, seq)` together determine a job's place. In `waiting`, the lane is the
 * priority (0 runs first) and the rank is the place in line. In `delayed`, the rank is the due
 * time. In `active`, `completed` and `failed`, the rank is when that state began. All times are
 * Unix ms.
 */
export const SCHEMA = `
CREATE TABLE queue (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  meta TEXT NOT NULL DEFAULT '{}',
  last_job_id INTEGER NOT NULL DEFAULT 0,
  limiter_count INTEGER NOT NULL DEFAULT 0,
  limiter_until INTEGER NOT NULL DEFAULT 0,
  stalled_check_until INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE job (
  seq INTEGER PRIMARY KEY,
  queue_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  lane INTEGER NOT NULL DEFAULT 0,
  rank INTEGER NOT NULL,
  name TEXT NOT NULL,
  data TEXT NOT NULL,
  opts TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  delay INTEGER NOT NULL DEFAULT 0,
  priority INTEGER NOT NULL DEFAULT 0,
  progress TEXT NOT NULL DEFAULT '0',
  attempts_made INTEGER NOT NULL DEFAULT 0,
  attempts_started INTEGER NOT NULL DEFAULT 0,
  stalled_count INTEGER NOT NULL DEFAULT 0,
  processed_on INTEGER,
  processed_by TEXT,
  finished_on INTEGER,
  return_value TEXT,
  failed_reason TEXT,
  stacktrace TEXT,
  deferred_failure TEXT,
  scheduler_id TEXT,
  dedup_id TEXT,
  lock_token TEXT,
  lock_until INTEGER NOT NULL DEFAULT 0,
  suspect INTEGER NOT NULL DEFAULT 0,
  UNIQUE (queue_id, id)
) STRICT;
CREATE INDEX job_in_line ON job (queue_id, state, lane, rank);

CREATE TABLE dedup (
  queue_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (queue_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE dedup_next (
  queue_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  job TEXT NOT NULL,
  PRIMARY KEY (queue_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE scheduler (
  queue_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  next_run INTEGER NOT NULL,
  fields TEXT NOT NULL,
  PRIMARY KEY (queue_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_log (
  queue_id INTEGER NOT NULL,
  job_id TEXT NOT NULL,
  line_no INTEGER NOT NULL,
  line TEXT NOT NULL,
  PRIMARY KEY (queue_id, job_id, line_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
  queue_id INTEGER NOT NULL,
  id INTEGER NOT NULL,
  entries TEXT NOT NULL,
  PRIMARY KEY (queue_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE metric (
  queue_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  count INTEGER NOT NULL,
  prev_ts INTEGER NOT NULL,
  prev_count INTEGER NOT NULL,
  points TEXT NOT NULL,
  PRIMARY KEY (queue_id, kind)
) STRICT, WITHOUT ROWID;
`;
