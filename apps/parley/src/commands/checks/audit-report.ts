import { existsSync } from 'node:fs';
import { silentLogger } from '@parley/core';
import type { AuditFinding, AuditReport, AuditSeverity } from '@parley/gateway/api';
import type { PromptFiles } from '@parley/workspace';
import { hasDatabase, withStore } from '../../cli.ts';
import { openAgent } from '../../open-agent.ts';
import { type LoadedSettings, listAgents } from '../../settings.ts';
import { AUDIT_CHECKS } from './audit-checks.ts';
import type { Check, FindingSeverity } from './check.ts';
import { type ExaminedAgent, examineAgents } from './facts.ts';
import type { ExaminedBase } from './installation.ts';
import { collectRecordFacts } from './record-facts.ts';
import { type CheckResult, runChecks } from './run-checks.ts';

/** The deadline (ms) of each audit check. */
const DEADLINE_MS = 30_000;

/** Audits the agents. The default agent comes first. */
export async function runAudit(
  agents: readonly ExaminedAgent[],
  { monotonic }: Pick<ExaminedBase, 'monotonic'>,
  checks: readonly Check[] = AUDIT_CHECKS,
): Promise<readonly CheckResult[]> {
  return runChecks(checks, agents, { deadlineMs: DEADLINE_MS, monotonic });
}

/**
 * Lists the agents of an installation. The database is opened only if it exists and opening it does
 * not change it.
 */
export function listExaminedAgents(
  base: ExaminedBase,
  loaded: LoadedSettings,
  opensDatabase = hasDatabase(base.folder, loaded),
): readonly ExaminedAgent[] {
  const now = base.clock();
  return examineAgents(base, loaded, async () => {
    if (!opensDatabase) return collectRecordFacts(null, () => false, now);
    const isPromptFile = await createPromptFiles(base, loaded);
    return withStore(base, (store) => collectRecordFacts(store, isPromptFile, now));
  });
}

/**
 * If the workspace does not exist yet, it has no prompt files, and the audit does not create it.
 */
async function createPromptFiles({ folder, env }: ExaminedBase, loaded: LoadedSettings) {
  const known = new Map<string | undefined, PromptFiles>();
  for (const { name, settings } of listAgents(loaded)) {
    if (!existsSync(`${settings.agent.workspace}/AGENTS.md`)) continue;
    const { promptFiles } = await openAgent({ folder, env, settings, log: silentLogger });
    known.set(name, promptFiles);
  }
  return (path: string, agent: string | undefined) => known.get(agent)?.includes(path) ?? false;
}

/**
 * Maps the severity of a finding to its severity in the audit. A check that failed is reported as a
 * warning; a null severity means that the finding is not listed.
 */
const SEVERITIES: Readonly<Record<FindingSeverity, AuditSeverity | null>> = {
  ...{ critical: 'critical', failed: 'warning', warning: 'warning', info: 'info' },
  ...{ ok: null, skipped: null },
};

/** Returns the findings for the command, the page and the log, most severe first. */
export function toAuditReport(results: readonly CheckResult[], at: number): AuditReport {
  const found = results.flatMap((result): AuditFinding[] => {
    const severity = SEVERITIES[result.severity];
    if (severity === null) return [];
    const { check, subject, found, advice = '' } = result;
    const text = subject === undefined ? found : `Agent ${subject}: ${found}`;
    return [{ id: check.id, severity, found: text, remedy: advice }];
  });
  const {
    critical = [],
    warning = [],
    info = [],
  } = Object.groupBy(found, ({ severity }) => severity);
  const counts = { critical: critical.length, warning: warning.length, info: info.length };
  return { at, counts, findings: [...critical, ...warning, ...info] };
}
