import { type AgeEvidence, systemTime } from '@parley/core';
import {
  type Database,
  defineDynamicStatement,
  defineStatement,
  type SqlValue,
} from './database.ts';
import {
  boundOf,
  buildOldRowsCondition,
  computeAgeCutoff,
  formatUtcDay,
  RETENTION_RULES,
  type RetentionAges,
  type RetentionRule,
} from './retention-rules.ts';
import { SHARED_NOW, type SharedClock } from './shared-clock.ts';
import type { StorageUsage } from './storage.ts';

export type { RetentionAges } from './retention-rules.ts';

/** The size and age limits of a database. */
export interface RetentionLimits {
  readonly ages: RetentionAges;
  /**
   * The maximum total size of used rows, in bytes. If it is exceeded, the oldest rows are removed
   * before their age limit. Infinity means no limit.
   */
  readonly bytes: number;
}

/** The result of one retention round. */
export interface RetentionRun {
  readonly endedAt: number;
  readonly tookMs: number;
  /** The number of removed rows, not counting those removed by cascade. */
  readonly removed: number;
  /**
   * The time before which rows had to be removed to reduce the size; null if the age limits were
   * enough.
   */
  readonly cutoff: number | null;
  /** The time up to which ages are now counted. */
  readonly countedTo: number;
}

/** Evidence from the database of how much time has passed. */
export type StoreAgeEvidence = Required<Pick<AgeEvidence, 'database' | 'newest'>>;

/** How a retention round yields time to other work. */
export interface RetentionPace {
  /** The time from which ages are counted, as `decideAging` determines. */
  readonly countFrom: number;
  /** The time recorded at the end of a complete round; defaults to `countFrom`. */
  readonly countedTo?: number;
  readonly clock: () => number;
  /** Called between steps with the duration of the last step; false ends the round. */
  readonly pause: (tookMs: number) => Promise<boolean>;
}

/** Removes old rows and measures the size of the database; loaded on first use. */
export interface RetentionRepository {
  /** Reads the result of the last complete round; null before the first one. */
  last(): Promise<RetentionRun | null>;
  /** Reads the database's current time, and the time of its newest row. */
  witnesses(): Promise<StoreAgeEvidence>;
  /** Runs a round in steps of a few ms; concurrent rounds do no harm. */
  run(bounds: RetentionLimits, pace: RetentionPace): Promise<RetentionRun>;
  /**
   * Measures the size of each table; this reads the whole database, so a process that answers
   * messages must not call it.
   */
  use(ages: RetentionAges, now: number): Promise<StorageUsage>;
}

/**
 * A step removes at most 500 rows and takes no longer than about 8 ms, because nothing else can run
 * on SQLite in the meantime.
 */
const MAX_ROWS = 500;
const FIRST_ROWS = 50;
const STEP_MS = 8;
/** Younger rows are kept regardless of the size, because platforms redeliver recent messages. */
const YOUNGEST_MS = 3 * 24 * 60 * 60_000;
/** The size is reduced to this fraction of the limit. */
const HEADROOM = 0.95;

/** Reads the result of the last round; null before the first one. */
export async function readLastRetention(database: Database): Promise<RetentionRun | null> {
  return (await database.read((sql) => sql.get(LAST_RUN))) ?? null;
}

// A single row holds the result, so that all processes and `parley storage` can read it.
const LAST_RUN = defineStatement(`
  select ended_at as "endedAt", took_ms as "tookMs", removed, cutoff, counted_to as "countedTo"
  from retention_run`).rows<RetentionRun>();

const KEEP_RUN = defineStatement(`
  insert into retention_run (id, ended_at, took_ms, removed, cutoff, counted_to)
  values (1, :endedAt, :tookMs, :removed, :cutoff, :countedTo)
  on conflict (id) do update set ended_at = excluded.ended_at, took_ms = excluded.took_ms,
    removed = excluded.removed, cutoff = excluded.cutoff, counted_to = excluded.counted_to`);

export async function readStoreAgeEvidence(
  database: Database,
  sharedClock: SharedClock,
): Promise<StoreAgeEvidence> {
  const row = await database.read((sql) => sql.get(WITNESSES, { moment: sharedClock() }));
  return row ?? { database: 0, newest: null };
}

// A heartbeat writes rows even when nobody writes, so new rows show that time passes. Uses the last
// row by `seq`, not the latest by time, because a row written while a clock was ahead must not
// count forever.
const WITNESSES = defineStatement(`
  select ${SHARED_NOW} as database, (select max(at) from (
    select at from (select received_at as at from inbox order by seq desc limit 1) as i
    union all select at from (select decided_at as at from ingress_decision order by seq desc limit 1) as d
    union all select at from (select created_at as at from outbox order by seq desc limit 1) as o
    union all select at from (select created_at as at from transcript order by seq desc limit 1) as t
    union all select max(last_at) as at from heartbeat) as newest_of_each) as newest`).rows<StoreAgeEvidence>();

/**
 * Removes rows past their age limit, and more of the oldest ones while the database is too large
 * (D15). Works in steps of a few ms; if a round ends early, the next one continues. Concurrent
 * rounds do no harm.
 */
export async function runRetention(
  database: Database,
  bounds: RetentionLimits,
  { clock, pause, countFrom: now, countedTo = now }: RetentionPace,
): Promise<RetentionRun> {
  const startedAt = clock();
  const last = await readLastRetention(database);
  const isThorough = formatUtcDay(last?.endedAt ?? 0) !== formatUtcDay(startedAt);
  const cutoff = await computeSizeCutoff(database, bounds.bytes, { now, last });
  let removed = 0;
  let goesOn = true;
  for (const rule of RETENTION_RULES) {
    if (!goesOn || (rule.isUnsorted === true && !isThorough && cutoff === null)) continue;
    const before =
      Math.max(computeAgeCutoff(rule, bounds.ages, now), cutoff ?? 0) - (rule.longer ?? 0);
    for await (const step of removeOldRows(database, rule, before)) {
      removed += step.removed;
      goesOn = await pause(step.tookMs);
      if (!goesOn) break;
    }
  }
  if (goesOn && (removed > 0 || isThorough)) {
    const { removeOrphanedEntries } = await import('./conversation-views/search-index.ts');
    for await (const step of removeOrphanedEntries(database, isThorough)) {
      goesOn = await pause(step.tookMs);
      if (!goesOn) break;
    }
  }
  while (goesOn) {
    const tookMs = await shrinkDatabase(database);
    if (tookMs === null) break;
    goesOn = await pause(tookMs);
  }
  const run = { endedAt: clock(), tookMs: clock() - startedAt, removed, cutoff, countedTo };
  // A round that ended early is not recorded, so the next round checks all rows.
  if (goesOn)
    await database.change('process', KEEP_RUN, { ...run, tookMs: Math.round(run.tookMs) });
  return run;
}

interface RetentionStep {
  readonly removed: number;
  readonly tookMs: number;
}

async function* removeOldRows(
  database: Database,
  rule: RetentionRule,
  before: number,
): AsyncGenerator<RetentionStep> {
  const { table, by, at, among } = rule;
  const bound = boundOf(rule, before);
  const columns = by.join(', ');
  const cells = (row: string) => by.map((_, nth) => `:${row}${nth}`).join(', ');
  const behind = `(${columns}) > (${cells('after')})`;
  const upTo = `(${columns}) <= (${cells('to')}) and ${buildOldRowsCondition(rule)}`;
  const step = (...conditions: readonly (string | undefined)[]) => {
    const some = conditions.filter((condition) => condition !== undefined);
    const where = some.length === 0 ? '' : ` where ${some.join(' and ')}`;
    const removed = [...some, upTo].join(' and ');
    return {
      select: defineDynamicStatement(
        `select ${columns}, ${at} from ${table}${where} order by ${columns} limit :limit`,
      ).rows<OrderedRow>(),
      remove: defineDynamicStatement(`delete from ${table} where ${removed}`),
    };
  };
  const [first, further] = [step(among), step(among, behind)];
  let after: Record<string, SqlValue> | null = null;
  let limit = FIRST_ROWS;
  for (;;) {
    const { select, remove } = after === null ? first : further;
    let tookMs = 0;
    const rows = await database.read(async (sql) => {
      const began = systemTime.monotonic();
      const found = await sql.all(select, { ...after, limit });
      tookMs = systemTime.monotonic() - began;
      return found;
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    const isBeforeBound = (row: OrderedRow) => row[at] == null || row[at] < bound;
    let removed = 0;
    if (rows.some(isBeforeBound)) {
      const cells = toCellParameters('to', rule, last);
      removed = await database.write(async (sql) => {
        const began = systemTime.monotonic();
        const count = await sql.run(remove, { ...after, ...cells, bound });
        tookMs += systemTime.monotonic() - began;
        return count;
      }, 'process');
    }
    yield { removed, tookMs };
    if (rows.length < limit || (rule.isUnsorted !== true && !isBeforeBound(last))) return;
    after = toCellParameters('after', rule, last);
    if (tookMs > STEP_MS) limit = Math.max(10, Math.floor(limit / 2));
    else if (tookMs < STEP_MS / 2) limit = Math.min(MAX_ROWS, limit * 2);
  }
}

/**
 * The columns that determine the reading order, and the column with the time at which a row was
 * written.
 */
type OrderedRow = Readonly<Record<string, string | number | null>>;

/** Converts a row's position in the reading order to the parameters `to0`, `to1`, … */
function toCellParameters(
  name: string,
  { by }: RetentionRule,
  row: OrderedRow,
): Record<string, SqlValue> {
  return Object.fromEntries(by.map((column, nth) => [`${name}${nth}`, row[column] ?? 0]));
}

/** Free pages beyond this number, and beyond a quarter of the file, are returned to the disk. */
const MAX_FREE_PAGES = 1_024;
const PAGES_OF_STEP = 64;
const INCREMENTAL = 2;

/**
 * Runs one step of shrinking a SQLite file, and returns its duration, or null if there is no space
 * to free.
 */
async function shrinkDatabase(database: Database): Promise<number | null> {
  if (database.dialect !== 'sqlite') return null;
  const found = await database.read((sql) => sql.get(PAGES));
  const { pages, free, mode } = found ?? { pages: 0, free: 0, mode: 0 };
  if (mode !== INCREMENTAL || free < Math.max(MAX_FREE_PAGES, pages / 4)) return null;
  return database.write(async (sql) => {
    const began = systemTime.monotonic();
    // The pragma does not return columns, so it is run rather than queried, and each run frees only
    // one page.
    for (let nth = 0; nth < PAGES_OF_STEP; nth += 1) await sql.run(FREE_PAGE);
    return systemTime.monotonic() - began;
  }, 'process');
}

const PAGES = defineStatement(`
  select page_count as pages, freelist_count as free, auto_vacuum as mode
  from pragma_page_count, pragma_freelist_count, pragma_auto_vacuum`).rows<{
  readonly pages: number;
  readonly free: number;
  readonly mode: number;
}>();

const FREE_PAGE = defineStatement('pragma incremental_vacuum(1)');

/**
 * Computes the time before which rows must be removed so that the remaining rows fit; null if
 * everything fits. Assumes that the same amount was written in every period; the next round
 * corrects the error.
 */
async function computeSizeCutoff(
  database: Database,
  most: number,
  { now, last }: { readonly now: number; readonly last: RetentionRun | null },
): Promise<number | null> {
  if (most === Number.POSITIVE_INFINITY) return null;
  const { measureBytesUsed } = await import('./storage.ts');
  const used = await measureBytesUsed(database, most);
  if (used <= most) return null;
  // Rows from before the last cutoff are still needed and stay.
  const oldest = Math.max(await findOldestRow(database, now), last?.cutoff ?? 0);
  const wanted = oldest + (now - oldest) * (1 - (most * HEADROOM) / used);
  return Math.floor(Math.min(wanted, now - YOUNGEST_MS));
}

/** The tables with most of the data. */
const LARGE: ReadonlySet<string> = new Set(['transcript', 'inbox', 'outbox', 'turn_prompt']);

/** Finds when the oldest row was written; this row may be one that is still needed and stays. */
async function findOldestRow(database: Database, now: number): Promise<number> {
  let oldest = now;
  for (const rule of RETENTION_RULES.filter(({ table }) => LARGE.has(table))) {
    const { table, by, at } = rule;
    const first = defineDynamicStatement(
      `select ${at} as at from ${table} order by ${by.join(', ')} limit :limit`,
    );
    const row = await database.read((sql) =>
      sql.get(first.rows<{ readonly at: number }>(), { limit: 1 }),
    );
    oldest = Math.min(oldest, row?.at ?? now);
  }
  return oldest;
}
