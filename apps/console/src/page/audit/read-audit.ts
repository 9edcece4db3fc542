import { fieldsOf } from '../chat/wire.ts';
import { listOf, numberOf, textOf } from '../prompt/read-prompt.ts';

const SEVERITIES = ['critical', 'warning', 'info'] as const;
/** How bad a finding is. */
export type Severity = (typeof SEVERITIES)[number];

/** What one check found, all of its sentences together. */
export interface CheckFindings {
  readonly id: string;
  readonly severity: Severity;
  readonly found: readonly string[];
  readonly remedy: string;
}

/** What weakens the guards of the installation, the worst first. */
export interface Audit {
  readonly at: number;
  readonly counts: Readonly<Record<Severity, number>>;
  readonly checks: readonly CheckFindings[];
}

/** Reads what the gateway says of its audit; what is not understood counts as critical. */
export function readAudit(data: unknown): Audit {
  const fields = fieldsOf(data);
  const counts = fieldsOf(fields.counts);
  const checks: CheckFindings[] = [];
  for (const finding of listOf(fields.findings)) {
    const { id, severity, found, remedy } = fieldsOf(finding);
    const known = SEVERITIES.find((one) => one === severity) ?? 'critical';
    const one = { id: textOf(id), severity: known, found: [textOf(found)], remedy: textOf(remedy) };
    const last = checks.at(-1);
    const isSame = last !== undefined && last.id === one.id && last.severity === known;
    if (isSame) checks[checks.length - 1] = { ...last, found: [...last.found, ...one.found] };
    else checks.push(one);
  }
  return {
    at: numberOf(fields.at),
    counts: {
      critical: numberOf(counts.critical),
      warning: numberOf(counts.warning),
      info: numberOf(counts.info),
    },
    checks,
  };
}
