import { reasonOf } from '@parley/contracts';
import type { Store } from '@parley/store';
import type { PromptFiles } from '@parley/workspace';
import { commandLine } from './data-folder.ts';
import type { OpenLog } from './open-log.ts';
import type { LoadedSettings } from './read-settings.ts';
import type { StartOptions } from './start-parley.ts';

/** Channels are connected by then, and nobody waits for the audit. In ms. */
const AFTER_START_MS = 5_000;

/** What auditing the installation of this process needs. */
export interface AuditHereDeps
  extends Pick<StartOptions & OpenLog, 'folder' | 'env' | 'clock' | 'log'> {
  readonly loaded: LoadedSettings;
  readonly store: Pick<Store, 'audit'>;
  readonly promptFiles: PromptFiles;
}

/** The audit of the installation of this process (U05); its code is loaded when it is used. */
export async function auditHere({ folder, env, clock, loaded, store, promptFiles }: AuditHereDeps) {
  const [{ auditOf, countsOf }, { gatherFacts }] = await Promise.all([
    import('./commands/audit.ts'),
    import('./audit/facts.ts'),
  ]);
  const isPromptFile = (path: string) => promptFiles.includes(path);
  const now = clock();
  const findings = auditOf(await gatherFacts({ folder, env, loaded, store, isPromptFile, now }));
  return { at: now, counts: countsOf(findings), findings };
}

/** Audits once, a little after the start, and logs the short form; returns a function that cancels it. */
export function startAudit(deps: AuditHereDeps, afterMs = AFTER_START_MS): () => void {
  const { folder, log } = deps;
  const timer = setTimeout(async () => {
    try {
      const { counts, findings } = await auditHere(deps);
      for (const { id, severity, found, remedy } of findings) {
        if (severity === 'critical') log.error({ check: id, remedy }, `audit: ${found}`);
      }
      if (counts.warning === 0) return;
      const count = `${counts.warning} warning${counts.warning === 1 ? '' : 's'}`;
      log.warn({}, `audit: ${count}, run "${commandLine('audit', folder)}"`);
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'audit: it could not be done');
    }
  }, afterMs);
  timer.unref();
  return () => clearTimeout(timer);
}
