import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { ParleyError, reasonOf, silentLogger, systemTime } from '@parley/core';
import type { AuditFinding, AuditSeverity } from '@parley/gateway/api';
import type { Store } from '@parley/store';
import type { PromptFiles } from '@parley/workspace';
import { type Cli, hasDatabase, jsonText, withStore } from '../../cli.ts';
import { CliError, commandLine, type DataFolder } from '../../data-folder.ts';
import { openAgent } from '../../open-agent.ts';
import { allAgents, type LoadedSettings, readSettings } from '../../settings.ts';
import { ACCESS_CHECKS } from './access-checks.ts';
import { type AuditFacts, type Check, gatherFacts } from './facts.ts';
import { FILE_CHECKS, modesToFix, octal, WORKSPACE_CHECKS } from './file-checks.ts';
import { acceptMcp } from './mcp-accepted.ts';
import { TOOL_CHECKS } from './tool-checks.ts';

export interface AuditFlags {
  readonly json?: boolean;
  readonly fix?: boolean;
}

/** The audit itself could not be done; the others are those of `exitCodeOf`. */
const COULD_NOT_RUN = 3;

/** `parley audit` (U05): 0 nothing at warning or above, 1 warnings, 2 something critical, 3 it could not run. */
export async function audit(
  { folder, env, print }: Cli,
  { json = false, fix = false }: AuditFlags,
): Promise<number> {
  try {
    checkPlace(folder);
    const loaded = readSettings(folder, env);
    const look = () => lookAt(folder, env, loaded);
    let facts = await look();
    const fixed = fix ? fixModes(facts) : [];
    if (fixed.length > 0) facts = await look();
    const findings = auditOf(facts);
    if (json) {
      const report = { version: 1, dataFolder: folder.path, at: new Date(facts.now).toISOString() };
      const counts = countsOf(findings);
      print(jsonText({ ...report, counts, fixed, findings }));
    } else {
      for (const { path, from, to } of fixed) print(`fixed     ${path}: ${from} → ${to}`);
      if (fix && fixed.length === 0) print('No mode had to be fixed.');
      print(`${folder.path}\n\n${auditText(findings)}`);
    }
    return exitCodeOf(findings);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    process.stderr.write(`\n${error.message}\n`);
    return COULD_NOT_RUN;
  }
}

/** `parley audit accept SERVER`: what its tools say of themselves now is as it should be. */
export async function auditAccept({ folder, print }: Cli, server: string): Promise<number> {
  if (!acceptMcp(folder, server, systemTime.clock())) {
    print(`Nothing has changed about the tools of the server ${server}, or there is none.`);
    return 1;
  }
  print(`The tools of the server ${server} are accepted as they are described now.`);
  return 0;
}

function checkPlace(folder: DataFolder): void {
  const { path, settingsFile, tokenFile } = folder;
  const start = commandLine('start', folder);
  if (!existsSync(path)) {
    const message = `There is no data folder ${path}, so there is nothing to audit. Make one with "${start}", or name another one with --data FOLDER.`;
    throw new CliError('audit-nothing', message);
  }
  const { uid } = statSync(path);
  const me = process.getuid?.();
  if (me !== undefined && uid !== me) {
    const message = `The data folder ${path} belongs to another user (${uid}). Run the audit as that user: it opens the database, whose side files would belong to you.`;
    throw new CliError('audit-foreign', message);
  }
  try {
    readdirSync(path);
  } catch (error) {
    const message = `The data folder ${path} cannot be read (${reasonOf(error)}). Run the audit as the user who runs Parley.`;
    throw new CliError('audit-unreadable', message, error);
  }
  if (
    [settingsFile, tokenFile, folder.storeUrl.replace(/^sqlite:/, '')].some((file) =>
      existsSync(file),
    )
  )
    return;
  const message = `${path} is no data folder of Parley: it has neither settings nor a database. Start Parley there with "${start}", or name another one with --data FOLDER.`;
  throw new CliError('audit-nothing', message);
}

/** Without the database where there is none, or where opening it would change it. */
export async function lookAt(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  loaded: LoadedSettings,
  opensDatabase = hasDatabase(folder, loaded),
): Promise<AuditFacts> {
  const look = async (store: Store | null): Promise<AuditFacts> => {
    const isPromptFile = await promptFilesOf(folder, env, loaded);
    return gatherFacts({ folder, env, loaded, store, isPromptFile, now: systemTime.clock() });
  };
  return opensDatabase ? withStore({ folder, env }, look) : look(null);
}

/** A workspace that is not there yet has none, and is not made. */
async function promptFilesOf(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  loaded: LoadedSettings,
): Promise<(path: string, agent: string | undefined) => boolean> {
  const known = new Map<string | undefined, PromptFiles>();
  for (const { name, settings } of allAgents(loaded)) {
    if (!existsSync(`${settings.agent.workspace}/AGENTS.md`)) continue;
    const { promptFiles } = await openAgent({ folder, env, settings, log: silentLogger });
    known.set(name, promptFiles);
  }
  return (path, agent) => known.get(agent)?.includes(path) ?? false;
}

function fixModes(facts: AuditFacts) {
  return modesToFix(facts).map(({ path, from, to }) => {
    try {
      chmodSync(path, to);
    } catch (error) {
      const message = `The mode of ${path} cannot be changed (${reasonOf(error)}).`;
      throw new CliError('audit-fix', message, error);
    }
    return { path, from: octal(from), to: octal(to) };
  });
}

export const CHECKS: readonly Check[] = [
  ...FILE_CHECKS,
  ...WORKSPACE_CHECKS,
  ...ACCESS_CHECKS,
  ...TOOL_CHECKS,
];

const SEVERITIES: readonly AuditSeverity[] = ['critical', 'warning', 'info'];

export function auditOf(
  facts: AuditFacts,
  checks: readonly Check[] = CHECKS,
): readonly AuditFinding[] {
  const main = findingsOf(facts, checks);
  const known = new Set(main.map(({ id, found }) => `${id} ${found}`));
  const others = facts.others.flatMap(({ name, ...own }) =>
    findingsOf({ ...facts, ...own, files: [] }, checks)
      // What the settings say for all is found once.
      .filter(({ id, found }) => id.startsWith('workspace.') || !known.has(`${id} ${found}`))
      .map((finding) => ({ ...finding, found: `Agent ${name}: ${finding.found}` })),
  );
  const findings = [...main, ...others];
  return SEVERITIES.flatMap((severity) => findings.filter((one) => one.severity === severity));
}

function findingsOf(facts: AuditFacts, checks: readonly Check[]): readonly AuditFinding[] {
  return checks.flatMap(({ id, severity, remedy, find }) =>
    find(facts).map((one): AuditFinding => {
      const graded = typeof one === 'string' ? { found: one, severity } : one;
      return { id, remedy, ...graded };
    }),
  );
}

export function countsOf(
  findings: readonly AuditFinding[],
): Readonly<Record<AuditSeverity, number>> {
  const count = (severity: AuditSeverity) =>
    findings.filter((finding) => finding.severity === severity).length;
  return { critical: count('critical'), warning: count('warning'), info: count('info') };
}

export function exitCodeOf(findings: readonly AuditFinding[]): 0 | 1 | 2 {
  const { critical, warning } = countsOf(findings);
  if (critical > 0) return 2;
  return warning > 0 ? 1 : 0;
}

const NOUNS = { critical: 'critical', warning: 'warning', info: 'note' } as const;

function summaryOf(findings: readonly AuditFinding[]): string {
  const counts = countsOf(findings);
  return SEVERITIES.map((severity) => {
    const isOne = counts[severity] === 1 || severity === 'critical';
    return `${counts[severity]} ${NOUNS[severity]}${isOne ? '' : 's'}`;
  }).join(', ');
}

export function auditText(findings: readonly AuditFinding[]): string {
  const isSame = (one: AuditFinding, other: AuditFinding | undefined) =>
    one.id === other?.id && one.severity === other.severity;
  const lines = findings.flatMap((finding, at) => {
    const { id, severity, found, remedy } = finding;
    return [
      ...(isSame(finding, findings[at - 1]) ? [] : [`${severity.toUpperCase().padEnd(8)}  ${id}`]),
      `          ${found}`,
      ...(isSame(finding, findings[at + 1]) ? [] : [`          → ${remedy}`, '']),
    ];
  });
  return [...lines, `${CHECKS.length} checks: ${summaryOf(findings)}.`].join('\n');
}
