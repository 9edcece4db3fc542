import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { shortDuration } from '@parley/contracts/short-duration';
import {
  openStore,
  type RetentionAges,
  type RetentionRun,
  type StorageUse,
  type TableUse,
} from '@parley/store';
import type { DataFolder } from '../data-folder.ts';
import { retentionAges } from '../keep-retention.ts';
import { readSettings } from '../read-settings.ts';

/** `parley storage` (D15): what takes how much, what bounds it, and what the next round would remove. */
export async function storage(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  { json }: { readonly json?: boolean | undefined },
  print: (text: string) => void,
): Promise<number> {
  const { settings } = readSettings(folder, env);
  const ages = retentionAges(settings);
  const store = await openStore({ url: settings.store.url ?? folder.storeUrl, clock: Date.now });
  try {
    const use = await store.retention.use(ages, Date.now());
    const lastRun = await store.retention.last();
    const workspace = filesIn(settings.agent.workspace);
    const { maxMegabytes } = settings.retention;
    print(
      json === true
        ? JSON.stringify({ ...use, maxMegabytes, workspace, lastRun }, null, 2)
        : storageText({ use, ages, maxMegabytes, workspace, lastRun }, Date.now()),
    );
  } finally {
    await store.close();
  }
  return 0;
}

interface Files {
  readonly files: number;
  readonly bytes: number;
}

function filesIn(folder: string): Files {
  let entries: string[];
  try {
    entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return { files: 0, bytes: 0 };
  }
  const sizes = entries.flatMap((entry) => {
    const stat = lstatSync(join(folder, entry), { throwIfNoEntry: false });
    return stat?.isFile() ? [stat.size] : [];
  });
  return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

interface Shown {
  readonly use: StorageUse;
  readonly ages: RetentionAges;
  readonly maxMegabytes: number | 'unlimited';
  readonly workspace: Files;
  readonly lastRun: RetentionRun | null;
}

function storageText({ use, ages, maxMegabytes, workspace, lastRun }: Shown, now: number): string {
  const free = use.freeBytes === null ? '' : `, ${size(use.freeBytes)} of it free for new rows`;
  const bound = maxMegabytes === 'unlimited' ? 'unlimited' : `at most ${maxMegabytes} MB`;
  const old = use.tables.reduce((sum, table) => sum + table.old.bytes, 0);
  return [
    `database   ${size(use.bytes)} (${bound})${free}`,
    `workspace  ${size(workspace.bytes)} in ${workspace.files} files; kept`,
    `old now    ${size(old)}, removed by the next rounds`,
    `last round ${lastText(lastRun, now)}`,
    '',
    ...columns([
      ['table', 'size', 'rows', 'old', 'kept'],
      ...use.tables.map((table) => rowOf(table, ages)),
    ]),
  ].join('\n');
}

function lastText(run: RetentionRun | null, now: number): string {
  if (run === null) return 'none yet';
  const size = run.cutoff === null ? '' : `; because of the size, all before ${day(run.cutoff)}`;
  return `${shortDuration(now - run.endedAt)} ago: ${run.removed} rows in ${shortDuration(run.tookMs)}${size}`;
}

function rowOf({ table, bytes, rows, old, bound }: TableUse, ages: RetentionAges): string[] {
  const kept = typeof bound === 'string' ? bound : boundText(bound, ages);
  return [table, size(bytes), String(rows), String(old.rows), kept];
}

const SETTINGS: Readonly<Record<keyof RetentionAges, string>> = {
  messages: 'retention.messageDays',
  history: 'retention.historyDays',
  decisions: 'retention.decisionDays',
  prompts: 'inspector.keepDays',
  spend: 'retention.spendDays',
};

function boundText(bound: readonly (keyof RetentionAges)[], ages: RetentionAges): string {
  return bound
    .map((name) => {
      const days = ages[name] / (24 * 60 * 60_000);
      return `${Number.isFinite(days) ? `${days} days` : 'forever'} (${SETTINGS[name]})`;
    })
    .join(', at least ');
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, at) => {
        const width = widths?.[at] ?? 0;
        return at > 0 && at < 4 ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

function size(bytes: number): string {
  return bytes < 1e5 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
