import type { AuditFinding, AuditReport, AuditSeverity } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useOperation } from './ui/data.tsx';
import { formatCounted } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import { DataContent, List } from './ui/widgets.tsx';

const LABELS: Readonly<Record<AuditSeverity, string>> = {
  critical: 'Critical',
  warning: 'Warning',
  info: 'Note',
};

/** This installation's security weaknesses, each with advice (U05). */
export function AuditView(): VNode {
  const audit = useOperation('audit/report', {});
  return (
    <ColumnView name="audit-view" title="Audit" refreshLabel="Check again">
      <DataContent data={audit}>{(report) => <Findings {...report} />}</DataContent>
    </ColumnView>
  );
}

function Findings({ counts, findings }: AuditReport): VNode {
  const { critical, warning, info } = counts;
  const summary =
    critical + warning === 0
      ? 'No warnings.'
      : `${critical} critical, ${formatCounted(warning, 'warning')}, ${formatCounted(info, 'note')}.`;
  return (
    <section aria-label="Findings">
      <h3 class="visually-hidden">Findings</h3>
      <p class="facts" role="status">
        {summary}
      </p>
      <List look="cards" of={groupByCheck(findings)}>
        {(check) => <CheckCard key={`${check.id} ${check.severity}`} {...check} />}
      </List>
    </section>
  );
}

/** All findings of one check. */
interface CheckFindings extends Omit<AuditFinding, 'found'> {
  readonly found: readonly string[];
}

/** Groups findings by check and severity, in their original order. */
export function groupByCheck(findings: readonly AuditFinding[]): readonly CheckFindings[] {
  const checks = new Map<string, CheckFindings>();
  for (const { found, ...check } of findings) {
    const key = `${check.id} ${check.severity}`;
    checks.set(key, { ...check, found: [...(checks.get(key)?.found ?? []), found] });
  }
  return [...checks.values()];
}

function CheckCard({ id, severity, found, remedy }: CheckFindings): VNode {
  const label = LABELS[severity];
  return (
    <article class="card" aria-label={`${label}: ${id}`}>
      <header>
        <h4>{id}</h4>
        <b class={`tone is-${severity}`}>{label}</b>
      </header>
      {found.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <p class="facts">{remedy}</p>
    </article>
  );
}
