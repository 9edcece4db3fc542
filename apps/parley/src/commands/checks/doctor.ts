import { systemTime } from '@parley/core';
import type { AuditReport } from '@parley/gateway/api';
import { type CliContext, formatJson } from '../../cli.ts';
import { askGateway } from '../../running-gateway.ts';
import { getVersionInfo } from '../../version.ts';
import { listExaminedAgents, runAudit, toAuditReport } from './audit-report.ts';
import type { FindingSeverity } from './check.ts';
import { CHECKS } from './checks.ts';
import { collectOnce, type ExaminedAgent } from './facts.ts';
import { formatFindings } from './findings-text.ts';
import { type Installation, inspectInstallation } from './installation.ts';
import { runChecks } from './run-checks.ts';

/** The deadline (ms) of each doctor check. */
const DEADLINE_MS = 10_000;

/**
 * `warning` means that something works, but not as well as it could. `skipped` means that there was
 * nothing to check.
 */
type DoctorStatus = 'ok' | 'warning' | 'failed' | 'skipped';

/**
 * Maps finding severities to doctor statuses; the doctor does not distinguish between audit
 * severities.
 */
const STATUSES: Readonly<Record<FindingSeverity, DoctorStatus>> = {
  ...{ critical: 'failed', failed: 'failed', warning: 'warning' },
  ...{ info: 'ok', ok: 'ok', skipped: 'skipped' },
};

/**
 * `parley doctor` (U02): checks the installation without changing it, with or without a running
 * gateway. The exit code is 1 if a check has failed, and 0 otherwise.
 */
export async function runDoctor(cli: CliContext): Promise<number> {
  const { folder, print, json } = cli;
  const { installation, end } = await inspectInstallation(cli, systemTime);
  const checks = await runDoctorChecks(installation, DEADLINE_MS);
  const count = (status: DoctorStatus) => checks.filter((one) => one.status === status).length;
  const counts = {
    ...{ ok: count('ok'), warning: count('warning') },
    ...{ failed: count('failed'), skipped: count('skipped') },
  };
  if (json) {
    const { parley, node } = getVersionInfo();
    const report = { version: 1, parley, node, at: new Date(systemTime.clock()).toISOString() };
    const place = { dataFolder: folder.path, settingsFile: folder.settingsFile };
    print(formatJson({ ...report, ...place, counts, checks }));
  } else print(formatDoctor(checks, counts));
  end();
  return counts.failed > 0 ? 1 : 0;
}

type DoctorCheck = Awaited<ReturnType<typeof runDoctorChecks>>[number];

/** Runs the doctor checks, each with its own deadline. */
export async function runDoctorChecks(installation: Installation, deadlineMs: number) {
  const { monotonic } = installation;
  const checks = CHECKS.filter(({ commands }) => commands.includes('doctor'));
  const results = await runChecks(checks, listDoctorAgents(installation), {
    deadlineMs,
    monotonic,
  });
  return results.map(({ check, severity, subject, found, advice, tookMs }) => ({
    ...{ check: check.doctorName ?? check.id, status: STATUSES[severity] },
    ...{ subject, found, fix: advice, tookMs },
  }));
}

/**
 * Lists the agents, each with the data that the doctor can use. If the settings are invalid, only
 * data that does not depend on the settings is available.
 */
function listDoctorAgents(installation: Installation): readonly ExaminedAgent[] {
  const { loaded, gateway, database } = installation;
  const inspected = async () => installation;
  const own = { config: inspected, schema: inspected, gateway: inspected, network: inspected };
  if (loaded === null) return [{ name: undefined, base: installation, sources: own }];
  const isCurrent = database.kind === 'seen' && database.state.kind === 'current';
  const agents = listExaminedAgents(installation, loaded, isCurrent && gateway.kind === 'none');
  const countFindings = collectOnce(async () => {
    const { counts } =
      gateway.kind === 'runs'
        ? await askGateway<AuditReport>(gateway.at, '/api/audit/report')
        : toAuditReport(await runAudit(agents, installation), installation.clock());
    return counts;
  });
  const audit = async () => ({ countFindings });
  return agents.map((one) => ({ ...one, sources: { ...one.sources, ...own, audit } }));
}

function formatDoctor(
  checks: readonly DoctorCheck[],
  { ok, warning, failed, skipped }: Readonly<Record<DoctorStatus, number>>,
): string {
  const summary = `${ok} ok, ${warning} with a warning, ${failed} failed, ${skipped} skipped.`;
  const lines = checks.map(({ status, check, subject, found, fix }) => ({
    ...{ level: status, name: check, advice: fix },
    found: subject === undefined ? found : `${subject}: ${found}`,
  }));
  return formatFindings(lines, summary);
}
