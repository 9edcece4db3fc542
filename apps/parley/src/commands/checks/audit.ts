import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { ParleyError, pluralize, reasonOf, systemTime } from '@parley/core';
import type { AuditReport } from '@parley/gateway/api';
import { type CliContext, formatJson } from '../../cli.ts';
import { CliError, type DataFolder, formatCommandLine } from '../../data-folder.ts';
import { readSettings } from '../../settings.ts';
import { AUDIT_CHECKS } from './audit-checks.ts';
import { listExaminedAgents, runAudit, toAuditReport } from './audit-report.ts';
import { formatOctal } from './file-checks.ts';
import { formatFindings } from './findings-text.ts';
import { acceptMcpTools } from './mcp-accepted.ts';
import type { CheckResult } from './run-checks.ts';

export interface AuditFlags {
  readonly fix?: boolean;
}

/** The exit code when the audit itself could not run; `getExitCode` returns all other codes. */
const COULD_NOT_RUN = 3;

/**
 * `parley audit` (U05): prints the findings of all audit checks. The exit code is 0 without
 * warnings, 1 with warnings, 2 with critical findings, and 3 if the audit could not run.
 */
export async function runAuditCommand(
  { folder, env, print, json }: CliContext,
  { fix = false }: AuditFlags,
): Promise<number> {
  try {
    checkDataFolder(folder);
    const loaded = readSettings(folder, env);
    const base = { folder, env, ...systemTime };
    const run = async () => {
      const agents = listExaminedAgents(base, loaded);
      // If the database cannot be opened, the audit stops here rather than reporting several failed
      // checks.
      await agents[0]?.sources.database?.();
      return runAudit(agents, base);
    };
    let results = await run();
    const fixed = fix ? repairFileModes(results) : [];
    if (fixed.length > 0) results = await run();
    const { at, ...report } = toAuditReport(results, base.clock());
    if (json) {
      const head = { version: 1, dataFolder: folder.path, at: new Date(at).toISOString() };
      print(formatJson({ ...head, fixed, ...report }));
    } else {
      for (const { path, from, to } of fixed) print(`fixed     ${path}: ${from} → ${to}`);
      if (fix && fixed.length === 0) print('All file modes were already correct.');
      print(`${folder.path}\n\n${formatAudit(report)}`);
    }
    return getExitCode(report);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    process.stderr.write(`\n${error.message}\n`);
    return COULD_NOT_RUN;
  }
}

/** `parley audit accept SERVER`: accepts the server's current tool descriptions. */
export async function acceptServer({ folder, print }: CliContext, server: string): Promise<number> {
  if (!acceptMcpTools(folder, server, systemTime.clock())) {
    print(`The tools of the server ${server} have not changed, or there is no such server.`);
    return 1;
  }
  print(`The current tool descriptions of the server ${server} are accepted.`);
  return 0;
}

function checkDataFolder(folder: DataFolder): void {
  const { path, settingsFile, tokenFile } = folder;
  const start = formatCommandLine('start', folder);
  if (!existsSync(path)) {
    const message = `There is no data folder at ${path}, so there is nothing to audit. Create one with "${start}", or choose another one with --data FOLDER.`;
    throw new CliError('audit-nothing', message);
  }
  const { uid } = statSync(path);
  const me = process.getuid?.();
  if (me !== undefined && uid !== me) {
    const message = `The data folder ${path} belongs to another user (${uid}). Run the audit as that user. Otherwise, the files that SQLite creates beside the database would belong to you.`;
    throw new CliError('audit-foreign', message);
  }
  try {
    readdirSync(path);
  } catch (error) {
    const message = `The data folder ${path} cannot be read (${reasonOf(error)}). Run the audit as the user that runs Parley.`;
    throw new CliError('audit-unreadable', message, error);
  }
  if (
    [settingsFile, tokenFile, folder.storeUrl.replace(/^sqlite:/, '')].some((file) =>
      existsSync(file),
    )
  )
    return;
  const message = `${path} is not a Parley data folder: it contains neither settings nor a database. Start Parley there with "${start}", or choose another folder with --data FOLDER.`;
  throw new CliError('audit-nothing', message);
}

function repairFileModes(results: readonly CheckResult[]) {
  const repairs = results.flatMap((result) => result.repair ?? []);
  return repairs.map(({ path, from, to }) => {
    try {
      chmodSync(path, to);
    } catch (error) {
      const message = `The mode of ${path} cannot be changed (${reasonOf(error)}).`;
      throw new CliError('audit-fix', message, error);
    }
    return { path, from: formatOctal(from), to: formatOctal(to) };
  });
}

type AuditFindings = Pick<AuditReport, 'counts' | 'findings'>;

/**
 * Returns the exit code of `parley audit`: 2 for a critical finding, 1 for a warning, 0 otherwise.
 */
export function getExitCode({
  counts: { critical, warning },
}: Pick<AuditFindings, 'counts'>): 0 | 1 | 2 {
  if (critical > 0) return 2;
  return warning > 0 ? 1 : 0;
}

/** Formats the findings as text, followed by the count for each severity. */
export function formatAudit({ findings, counts }: AuditFindings): string {
  const { critical, warning, info } = counts;
  const summary = `${AUDIT_CHECKS.length} checks: ${critical} critical, ${pluralize(warning, 'warning')}, ${pluralize(info, 'note')}.`;
  const lines = findings.map(({ id, severity, found, remedy }) => ({
    ...{ level: severity, name: id, found, advice: remedy },
  }));
  return formatFindings(lines, summary);
}
