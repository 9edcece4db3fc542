import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { shortDuration, systemTime } from '@parley/core';
import type { RetentionAges, RetentionRun, StorageUse, TableUse } from '@parley/store';
import { printLinks } from '../banner.ts';
import { type Cli, jsonText, withStore } from '../cli.ts';
import { withOperations } from '../operate.ts';
import { allAgents, retentionAges } from '../settings.ts';
import { tableText } from '../terminal/text.ts';
import { agentLines, statusLines } from './status-text.ts';

const WORKS: ReadonlySet<string> = new Set(['connected', 'standby', 'paused']);

/**
 * `parley status`: shows the state of the gateway on this data folder. Exit code 0 if it and all
 * its channels work.
 */
export function status(cli: Cli): Promise<number> {
  return withOperations(cli, 'status/report', async ({ address, perform }) => {
    const report = await perform('status/report', {});
    if (cli.json) cli.print(jsonText(report));
    else {
      const { agents } = await perform('agents/list', {});
      const lines = [`${report.agent} at ${address}`, ...statusLines(report, cli.folder)];
      cli.print([...lines, ...agentLines(agents)].join('\n'));
      await printLinks(cli, report.channels);
    }
    const isWhole = report.channels.every(
      ({ state, defects }) => WORKS.has(state.kind) && defects === undefined,
    );
    const fits = report.processes.every(({ notes }) => notes.length === 0);
    return isWhole && fits && report.health.status !== 'down' ? 0 : 1;
  });
}

export function storage(cli: Cli): Promise<number> {
  return withStore(cli, async (store, loaded) => {
    const { settings } = loaded;
    const ages = retentionAges(settings);
    const report: StorageReport = {
      ...(await store.retention.use(ages, systemTime.clock())),
      maxMegabytes: settings.retention.maxMegabytes,
      workspace: sumOf(allAgents(loaded).map((one) => filesIn(one.settings.agent.workspace))),
      lastRun: await store.retention.last(),
    };
    cli.print(cli.json ? jsonText(report) : storageText(report, ages, systemTime.clock()));
    return 0;
  });
}

interface StorageReport extends StorageUse {
  readonly maxMegabytes: number | 'unlimited';
  readonly workspace: Files;
  readonly lastRun: RetentionRun | null;
}

interface Files {
  readonly files: number;
  readonly bytes: number;
}

const sumOf = (all: readonly Files[]): Files =>
  all.reduce((sum, one) => ({ files: sum.files + one.files, bytes: sum.bytes + one.bytes }));

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

function storageText(report: StorageReport, ages: RetentionAges, now: number): string {
  const { bytes, freeBytes, files, tables, maxMegabytes, workspace, lastRun } = report;
  const free = freeBytes === null ? '' : `, ${sizeText(freeBytes)} of it free for new rows`;
  const bound = maxMegabytes === 'unlimited' ? 'unlimited' : `at most ${maxMegabytes} MB`;
  const old = tables.reduce((sum, table) => sum + table.old.bytes, 0);
  return [
    `database   ${sizeText(bytes)} (${bound})${free}`,
    ...(files === null
      ? []
      : [
          `files      ${sizeText(files.bytes)} in ${files.files} files of messages; kept for a day`,
        ]),
    `workspace  ${sizeText(workspace.bytes)} in ${workspace.files} files; kept`,
    `due now    ${sizeText(old)}, removed in the next rounds`,
    `last round ${lastText(lastRun, now)}`,
    '',
    tableText(
      [['table', 'size', 'rows', 'old', 'kept'], ...tables.map((table) => rowOf(table, ages))],
      [1, 2, 3],
    ),
  ].join('\n');
}

function lastText(run: RetentionRun | null, now: number): string {
  if (run === null) return 'none yet';
  const size = run.cutoff === null ? '' : `; because of the size, all before ${day(run.cutoff)}`;
  return `${shortDuration(now - run.endedAt)} ago: ${run.removed} rows in ${shortDuration(run.tookMs)}${size}`;
}

function rowOf({ table, bytes, rows, old, bound }: TableUse, ages: RetentionAges): string[] {
  const kept = typeof bound === 'string' ? bound : boundText(bound, ages);
  return [table, sizeText(bytes), String(rows), String(old.rows), kept];
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

const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

function sizeText(bytes: number): string {
  return bytes < 1e5 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
