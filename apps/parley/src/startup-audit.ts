import { pluralize, reasonOf } from '@parley/core';
import type { AuditReport } from '@parley/gateway/api';
import type { Store } from '@parley/store';
import type { PromptFiles } from '@parley/workspace';
import { formatCommandLine } from './data-folder.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import type { LoadedSettings } from './settings.ts';

/** The delay (ms) between startup and the audit, so that channels can connect first. */
const AFTER_START_MS = 5_000;

/** Runs the audit of this process's installation (U05). The audit's code is loaded on first use. */
export async function auditInstallation(
  options: Pick<StartOptions, 'folder' | 'env' | 'clock' | 'monotonic'>,
  { loaded, shared: { store }, main, named }: AuditedAgents,
): Promise<AuditReport> {
  const [{ toAuditReport: auditReport, runAudit }, { examineAgents }, { collectRecordFacts }] =
    await Promise.all([
      import('./commands/checks/audit-report.ts'),
      import('./commands/checks/facts.ts'),
      import('./commands/checks/record-facts.ts'),
    ]);
  const isPromptFile = (path: string, name: string | undefined) => {
    const own = name === undefined ? main : named.get(name);
    return own?.agent.promptFiles.includes(path) ?? false;
  };
  const now = options.clock();
  const records = () => collectRecordFacts(store, isPromptFile, now);
  return auditReport(await runAudit(examineAgents(options, loaded, records), options), now);
}

interface AuditedAgents {
  readonly loaded: LoadedSettings;
  readonly shared: { readonly store: Pick<Store, 'audit' | 'signIns'> };
  readonly main: AuditedAgent;
  readonly named: ReadonlyMap<string, AuditedAgent>;
}

interface AuditedAgent {
  readonly agent: { readonly promptFiles: PromptFiles };
}

/**
 * Runs one audit shortly after startup and logs a summary. The returned function cancels the audit.
 */
export function startAudit(
  audit: () => Promise<AuditReport>,
  { folder, log }: Pick<StartOptions & OpenLog, 'folder' | 'log'>,
  afterMs = AFTER_START_MS,
): () => void {
  const timer = setTimeout(async () => {
    try {
      const { counts, findings } = await audit();
      for (const { id, severity, found, remedy } of findings) {
        if (severity === 'critical') log.error({ check: id, remedy }, `audit: ${found}`);
      }
      if (counts.warning === 0) return;
      log.warn(
        {},
        `audit: ${pluralize(counts.warning, 'warning')}, run "${formatCommandLine('audit', folder)}"`,
      );
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'audit: it failed');
    }
  }, afterMs);
  timer.unref();
  return () => clearTimeout(timer);
}
