import type { AuditFinding, AuditReport, AuditSeverity } from '@parley/gateway/api';
import { h, type VNode } from 'preact';
import { counted } from './ui/format.ts';
import { ColumnView, listOf, p, shown, useFresh } from './ui/widgets.ts';

const LABELS: Readonly<Record<AuditSeverity, string>> = {
  critical: 'Critical',
  warning: 'Warning',
  info: 'Note',
};

/** The weaknesses of this installation, and what to do about them (U05). */
export function AuditView(): VNode {
  const { answer, refresh } = useFresh<AuditReport>('/api/audit');
  const isBusy = answer.kind === 'waiting';
  return h(
    ColumnView,
    { name: 'audit-view', title: 'Audit', isBusy, refresh, refreshLabel: 'Check again' },
    shown(answer, (report) => h(Findings, { report })),
  );
}

function Findings({ report: { counts, findings } }: { readonly report: AuditReport }): VNode {
  const { critical, warning, info } = counts;
  const summary =
    critical + warning === 0
      ? 'No warnings.'
      : `${critical} critical, ${counted(warning, 'warning')}, ${counted(info, 'note')}.`;
  return h(
    'section',
    { 'aria-label': 'Findings' },
    h('p', { class: 'facts', role: 'status' }, summary),
    listOf('cards', checksOf(findings), (check) =>
      h(Card, { key: `${check.id} ${check.severity}`, check }),
    ),
  );
}

/** Everything that one check found. */
interface CheckFindings extends Omit<AuditFinding, 'found'> {
  readonly found: readonly string[];
}

/** Findings of one check and severity as one; the order stays. */
export function checksOf(findings: readonly AuditFinding[]): readonly CheckFindings[] {
  const checks = new Map<string, CheckFindings>();
  for (const { found, ...check } of findings) {
    const key = `${check.id} ${check.severity}`;
    checks.set(key, { ...check, found: [...(checks.get(key)?.found ?? []), found] });
  }
  return [...checks.values()];
}

function Card({ check }: { readonly check: CheckFindings }): VNode {
  const { id, severity, found, remedy } = check;
  const label = LABELS[severity];
  return h(
    'article',
    { class: `card is-${severity}`, 'aria-label': `${label}: ${id}` },
    h('header', null, h('h4', null, id), h('span', { class: 'card-kind' }, label)),
    found.map((sentence) => h('p', { key: sentence, class: 'card-reason' }, sentence)),
    p('facts', remedy),
  );
}
