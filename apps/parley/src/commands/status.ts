import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { formatDuration, systemTime } from '@parley/core';
import type { RetentionAges, RetentionRun, StorageUsage, TableUsage } from '@parley/store';
import { printLinkingInstructions } from '../banner.ts';
import { type CliContext, formatJson, withStore } from '../cli.ts';
import { withOperations } from '../operate.ts';
import { listAgents, toRetentionAges } from '../settings.ts';
import { formatTable } from '../terminal/text.ts';
import { listAgentLines, listStatusLines } from './status-text.ts';

const WORKS: ReadonlySet<string> = new Set(['connected', 'standby', 'paused']);

/**
 * `parley status`: shows the state of the gateway on this data folder. The exit code is 0 if the
 * gateway and all its channels work.
 */
export function showStatus(cli: CliContext): Promise<number> {
  return withOperations(cli, 'status/report', async ({ address, perform }) => {
    const report = await perform('status/report', {});
    if (cli.json) cli.print(formatJson(report));
    else {
      const { agents } = await perform('agents/list', {});
      const lines = [`${report.agent} at ${address}`, ...listStatusLines(report, cli.folder)];
      cli.print([...lines, ...listAgentLines(agents)].join('\n'));
      await printLinkingInstructions(cli, report.channels);
    }
    const isWhole = report.channels.every(
      ({ state, defects }) => WORKS.has(state.kind) && defects === undefined,
    );
    const fits = report.processes.every(({ notes }) => notes.length === 0);
    return isWhole && fits && report.health.status !== 'down' ? 0 : 1;
  });
}

export function showStorage(cli: CliContext): Promise<number> {
  return withStore(cli, async (store, loaded) => {
    const { settings } = loaded;
    const ages = toRetentionAges(settings);
    const report: StorageReport = {
      ...(await store.retention.use(ages, systemTime.clock())),
      maxMegabytes: settings.retention.maxMegabytes,
      workspace: sumOf(listAgents(loaded).map((one) => measureFiles(one.settings.agent.workspace))),
      lastRun: await store.retention.last(),
    };
    cli.print(cli.json ? formatJson(report) : formatStorage(report, ages, systemTime.clock()));
    return 0;
  });
}

interface StorageReport extends StorageUsage {
  readonly maxMegabytes: number | 'unlimited';
  readonly workspace: FolderFiles;
  readonly lastRun: RetentionRun | null;
}

interface FolderFiles {
  readonly files: number;
  readonly bytes: number;
}

const sumOf = (all: readonly FolderFiles[]): FolderFiles =>
  all.reduce((sum, one) => ({ files: sum.files + one.files, bytes: sum.bytes + one.bytes }));

function measureFiles(folder: string): FolderFiles {
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

function formatStorage(report: StorageReport, ages: RetentionAges, now: number): string {
  const { bytes, freeBytes, files, tables, maxMegabytes, workspace, lastRun } = report;
  const free =
    freeBytes === null ? '' : `, of which ${formatSize(freeBytes)} are free for new rows`;
  const bound = maxMegabytes === 'unlimited' ? 'unlimited' : `at most ${maxMegabytes} MB`;
  const old = tables.reduce((sum, table) => sum + table.old.bytes, 0);
  return [
    `database   ${formatSize(bytes)} (${bound})${free}`,
    ...(files === null
      ? []
      : [`files      ${formatSize(files.bytes)} in ${files.files} message files; kept for a day`]),
    `workspace  ${formatSize(workspace.bytes)} in ${workspace.files} files; kept`,
    `expired    ${formatSize(old)}, removed in the next cleanup rounds`,
    `last round ${describeLastRun(lastRun, now)}`,
    '',
    formatTable(
      [['table', 'size', 'rows', 'old', 'kept'], ...tables.map((table) => toTableRow(table, ages))],
      [1, 2, 3],
    ),
  ].join('\n');
}

function describeLastRun(run: RetentionRun | null, now: number): string {
  if (run === null) return 'none yet';
  const size =
    run.cutoff === null ? '' : `; because of the size limit, everything before ${day(run.cutoff)}`;
  return `${formatDuration(now - run.endedAt)} ago: ${run.removed} rows in ${formatDuration(run.tookMs)}${size}`;
}

function toTableRow({ table, bytes, rows, old, bound }: TableUsage, ages: RetentionAges): string[] {
  const kept = typeof bound === 'string' ? bound : describeRetentionBound(bound, ages);
  return [table, formatSize(bytes), String(rows), String(old.rows), kept];
}

const SETTINGS: Readonly<Record<keyof RetentionAges, string>> = {
  messages: 'retention.messageDays',
  history: 'retention.historyDays',
  decisions: 'retention.decisionDays',
  prompts: 'inspector.keepDays',
  spend: 'retention.spendDays',
};

function describeRetentionBound(
  bound: readonly (keyof RetentionAges)[],
  ages: RetentionAges,
): string {
  return bound
    .map((name) => {
      const days = ages[name] / (24 * 60 * 60_000);
      return `${Number.isFinite(days) ? `${days} days` : 'forever'} (${SETTINGS[name]})`;
    })
    .join(', at least ');
}

const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

function formatSize(bytes: number): string {
  return bytes < 1e5 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
