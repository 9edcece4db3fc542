import type { Database, Sql } from './database.ts';
import { raw } from './kysely.ts';
import {
  beforeOf,
  boundOf,
  dayOf,
  isOld,
  RETENTION_RULES,
  type RetentionAges,
  type RetentionRule,
} from './retention-rules.ts';
import type { StorageUse } from './storage.ts';

export type { RetentionAges } from './retention-rules.ts';

/** What the last round did; one row, so that all processes and `parley storage` know. */
interface RetentionRunTable {
  id: number;
  ended_at: number;
  took_ms: number;
  removed: number;
  cutoff: number | null;
}

/** Tables of this file. The worker that holds the lease writes it, `parley storage` reads it. */
export interface RetentionTables {
  retention_run: RetentionRunTable;
}

/** Bounds of a database. */
export interface RetentionBounds {
  readonly ages: RetentionAges;
  /** Of all rows that are in use; beyond it the oldest go first, whatever their age. Infinity: none. */
  readonly bytes: number;
}

/** One round of removing what is old. */
export interface RetentionRun {
  readonly endedAt: number;
  readonly tookMs: number;
  /** Rows, without those that went along with others. */
  readonly removed: number;
  /** Everything older than this had to go because of the size; null: the ages were enough. */
  readonly cutoff: number | null;
}

/** How a round goes on beside other work. */
export interface RetentionPace {
  readonly clock: () => number;
  /** Between steps, each of which took so many ms; false ends the round. */
  readonly pause: (tookMs: number) => Promise<boolean>;
}

/** Removing what is old, and what the database takes; loaded with the first use. */
export interface RetentionRepository {
  /** What the last whole round did; null before the first. */
  last(): Promise<RetentionRun | null>;
  /** A round, in steps of some ms. Harmless when two do it at once. */
  run(bounds: RetentionBounds, pace: RetentionPace): Promise<RetentionRun>;
  /** Reads the whole database: not for a process that answers. */
  use(ages: RetentionAges, now: number): Promise<StorageUse>;
}

/** A step is at most so many rows, and as few as take about so long: meanwhile nothing else is done on SQLite. */
const MOST_ROWS = 500;
const FIRST_ROWS = 50;
const STEP_MS = 8;
/** Younger rows are kept whatever the size: platforms deliver again what they delivered lately. */
const YOUNGEST_MS = 3 * 24 * 60 * 60_000;
/** By how much more than needed the size is brought down. */
const HEADROOM = 0.95;

/** What the last round did; null before the first. */
export async function lastRetention(database: Database): Promise<RetentionRun | null> {
  const row = await database.read((sql) =>
    sql.selectFrom('retention_run').selectAll().executeTakeFirst(),
  );
  if (row === undefined) return null;
  const { ended_at: endedAt, took_ms: tookMs, removed, cutoff } = row;
  return { endedAt, tookMs, removed, cutoff };
}

/**
 * Removes what is older than its age, and more of the oldest while the database is too large (D15). In steps
 * of some ms; ended at any of them, the next round goes on. Two at once do no harm.
 */
export async function retain(
  database: Database,
  bounds: RetentionBounds,
  { clock, pause }: RetentionPace,
): Promise<RetentionRun> {
  const now = clock();
  const last = await lastRetention(database);
  const isThorough = dayOf(last?.endedAt ?? 0) !== dayOf(now);
  const cutoff = await cutoffOf(database, bounds.bytes, { now, last });
  let removed = 0;
  let goesOn = true;
  for (const rule of RETENTION_RULES) {
    if (!goesOn || !(rule.isSorted || isThorough || cutoff !== null)) continue;
    const before = Math.max(beforeOf(rule, bounds.ages, now), cutoff ?? 0) - (rule.longer ?? 0);
    for await (const step of removeOld(database, rule, before)) {
      removed += step.removed;
      goesOn = await pause(step.tookMs);
      if (!goesOn) break;
    }
  }
  while (goesOn) {
    const tookMs = await shrink(database);
    if (tookMs === null) break;
    goesOn = await pause(tookMs);
  }
  const run = { endedAt: clock(), tookMs: clock() - now, removed, cutoff };
  // A round that was ended early was none: the next one looks at everything.
  if (goesOn) await database.write((sql) => keepRun(sql, run), 'process');
  return run;
}

type Cells = readonly (string | number)[];

interface Step {
  readonly removed: number;
  readonly tookMs: number;
}

async function* removeOld(
  database: Database,
  rule: RetentionRule,
  before: number,
): AsyncGenerator<Step> {
  const bound = boundOf(rule, before);
  const key = columnsOf(rule);
  const among = raw.raw(rule.among ?? '1 = 1');
  let behind = raw``;
  let limit = FIRST_ROWS;
  for (;;) {
    let tookMs = 0;
    const query = raw<Record<string, string | number | null>>`
      select ${key}, ${raw.ref(rule.at)} from ${raw.table(rule.table)}
      where ${among}${behind} order by ${key} limit ${limit}`;
    const { rows } = await database.read(async (sql) => {
      const began = performance.now();
      const result = await query.execute(sql);
      tookMs = performance.now() - began;
      return result;
    });
    const last = rows.at(-1);
    if (last === undefined) return;
    const isBeforeBound = (at: string | number | null | undefined) => at == null || at < bound;
    const upTo = cellsOf(rule, last);
    let removed = 0;
    if (rows.some((row) => isBeforeBound(row[rule.at]))) {
      removed = await database.write(async (sql) => {
        const began = performance.now();
        const { numAffectedRows = 0n } = await raw`delete from ${raw.table(rule.table)}
          where ${among}${behind} and (${key}) <= (${raw.join(upTo)}) and ${isOld(rule, before)}`.execute(
          sql,
        );
        tookMs += performance.now() - began;
        return Number(numAffectedRows);
      }, 'process');
    }
    yield { removed, tookMs };
    if (rows.length < limit || (rule.isSorted && !isBeforeBound(last[rule.at]))) return;
    behind = raw` and (${key}) > (${raw.join(upTo)})`;
    if (tookMs > STEP_MS) limit = Math.max(10, Math.floor(limit / 2));
    else if (tookMs < STEP_MS / 2) limit = Math.min(MOST_ROWS, limit * 2);
  }
}

/** In pages: what is free beyond this, and beyond a quarter of the file, is given back to the disk. */
const MOST_FREE = 1_024;
const PAGES_OF_STEP = 64;
const INCREMENTAL = 2;

/** A step of making a file of SQLite smaller; how long it took, null where there is nothing to do. */
async function shrink(database: Database): Promise<number | null> {
  if (database.dialect !== 'sqlite') return null;
  const { rows } = await database.read((sql) =>
    raw<{ pages: number; free: number; mode: number }>`
      select page_count as pages, freelist_count as free, auto_vacuum as mode
      from pragma_page_count, pragma_freelist_count, pragma_auto_vacuum`.execute(sql),
  );
  const { pages, free, mode } = rows[0] ?? { pages: 0, free: 0, mode: 0 };
  if (mode !== INCREMENTAL || free < Math.max(MOST_FREE, pages / 4)) return null;
  return database.write(async (sql) => {
    const began = performance.now();
    // It has no columns, so it is run and not read, and stops at its first page.
    const page = raw`pragma incremental_vacuum(1)`;
    for (let nth = 0; nth < PAGES_OF_STEP; nth += 1) await page.execute(sql);
    return performance.now() - began;
  }, 'process');
}

const columnsOf = ({ key }: RetentionRule) => raw.join(key.map((name) => raw.ref(name)));

function cellsOf({ key }: RetentionRule, row: Record<string, string | number | null>): Cells {
  return key.map((name) => row[name] ?? 0);
}

/**
 * What is older has to go so that the rest has room; null when there is room. As if all times had written as
 * much; the next round looks again.
 */
async function cutoffOf(
  database: Database,
  most: number,
  { now, last }: { readonly now: number; readonly last: RetentionRun | null },
): Promise<number | null> {
  if (most === Number.POSITIVE_INFINITY) return null;
  const { bytesUsed } = await import('./storage.ts');
  const used = await bytesUsed(database, most);
  if (used <= most) return null;
  // Before the last cutoff only rows are left that are still needed.
  const oldest = Math.max(await oldestOf(database, now), last?.cutoff ?? 0);
  const wanted = oldest + (now - oldest) * (1 - (most * HEADROOM) / used);
  return Math.floor(Math.min(wanted, now - YOUNGEST_MS));
}

/** The tables that hold most of it. */
const LARGE: ReadonlySet<string> = new Set(['transcript', 'inbox', 'outbox', 'turn_prompt']);

/** When the oldest row was written; it may be one that is still needed, and stays. */
async function oldestOf(database: Database, now: number): Promise<number> {
  let oldest = now;
  for (const rule of RETENTION_RULES.filter(({ table }) => LARGE.has(table))) {
    const { rows } = await database.read((sql) =>
      raw<{ at: number }>`select ${raw.ref(rule.at)} as at from ${raw.table(rule.table)}
        order by ${columnsOf(rule)} limit ${1}`.execute(sql),
    );
    oldest = Math.min(oldest, rows[0]?.at ?? now);
  }
  return oldest;
}

async function keepRun(sql: Sql, run: RetentionRun): Promise<void> {
  const row = {
    id: 1,
    ended_at: run.endedAt,
    took_ms: Math.round(run.tookMs),
    removed: run.removed,
    cutoff: run.cutoff,
  };
  await sql
    .insertInto('retention_run')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute();
}
