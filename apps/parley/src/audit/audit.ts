import { ACCESS_CHECKS } from './access-checks.ts';
import type { AuditFacts } from './facts.ts';
import { FILE_CHECKS } from './file-checks.ts';
import { TOOL_CHECKS } from './tool-checks.ts';
import { WORKSPACE_CHECKS } from './workspace-checks.ts';

/** `critical`: somebody else can get in or read along now. `warning`: a guard is weaker than it could be. */
export type Severity = 'critical' | 'warning' | 'info';

/** One check of `parley audit` (U05). Ids never change: people and scripts refer to them. */
export interface Check {
  readonly id: string;
  readonly severity: Severity;
  /** What must hold, for docs/audit.md. */
  readonly holds: string;
  /** What to do where it does not. */
  readonly remedy: string;
  /** One sentence for each violation; never a secret itself. */
  readonly find: (facts: AuditFacts) => readonly (string | Graded)[];
}

/** A violation whose severity differs from that of its check. */
export interface Graded {
  readonly found: string;
  readonly severity: Severity;
}

/** One violation. */
export interface Finding {
  readonly id: string;
  readonly severity: Severity;
  readonly found: string;
  readonly remedy: string;
}

/** All checks, in the order in which their findings are listed within a severity. */
export const CHECKS: readonly Check[] = [
  ...FILE_CHECKS,
  ...WORKSPACE_CHECKS,
  ...ACCESS_CHECKS,
  ...TOOL_CHECKS,
];

const SEVERITIES: readonly Severity[] = ['critical', 'warning', 'info'];

/** What is wrong with an installation, the worst first. */
export function auditOf(facts: AuditFacts, checks: readonly Check[] = CHECKS): readonly Finding[] {
  const findings = checks.flatMap(({ id, severity, remedy, find }) =>
    find(facts).map((one): Finding => {
      const graded = typeof one === 'string' ? { found: one, severity } : one;
      return { id, remedy, ...graded };
    }),
  );
  return SEVERITIES.flatMap((severity) => findings.filter((one) => one.severity === severity));
}

/** How many findings there are of each severity. */
export function countsOf(findings: readonly Finding[]): Readonly<Record<Severity, number>> {
  const count = (severity: Severity) =>
    findings.filter((finding) => finding.severity === severity).length;
  return { critical: count('critical'), warning: count('warning'), info: count('info') };
}

/** The exit code of `parley audit`: 2 with a critical finding, 1 with a warning, else 0. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  const { critical, warning } = countsOf(findings);
  if (critical > 0) return 2;
  return warning > 0 ? 1 : 0;
}

const NOUNS = { critical: 'critical', warning: 'warning', info: 'note' } as const;

/** `1 critical, 2 warnings, 3 notes`. */
function summaryOf(findings: readonly Finding[]): string {
  const counts = countsOf(findings);
  return SEVERITIES.map((severity) => {
    const isOne = counts[severity] === 1 || severity === 'critical';
    return `${counts[severity]} ${NOUNS[severity]}${isOne ? '' : 's'}`;
  }).join(', ');
}

/** The findings for people, those of one check together with its remedy. */
export function auditText(findings: readonly Finding[]): string {
  const isSame = (one: Finding, other: Finding | undefined) =>
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
