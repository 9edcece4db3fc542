import type { AuditFinding, AuditReport, AuditSeverity } from '@parley/gateway/api';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useAnswer } from './gateway.ts';
import { counted } from './ui/format.ts';
import { ColumnView, shown } from './ui/widgets.ts';

const LABELS: Readonly<Record<AuditSeverity, string>> = {
  critical: 'Critical',
  warning: 'Warning',
  info: 'Note',
};

/** The weaknesses of this installation, and what to do about them (U05). */
export function AuditView(): VNode {
  const [round, setRound] = useState(0);
  const answer = useAnswer<AuditReport>('/api/audit', round);
  const refresh = { label: 'Check again', onRefresh: () => setRound((last) => last + 1) };
  return h(
    ColumnView,
    { name: 'audit-view', title: 'Audit', isBusy: answer.kind === 'waiting', refresh },
    shown(answer, (report) => h(Findings, { report })),
  );
}

function Findings({ report: { counts, findings } }: { readonly report: AuditReport }): VNode {
  const { critical, warning, info } = counts;
  return h(
    'section',
    { 'aria-label': 'Findings' },
    h(
      'p',
      { class: 'facts', role: 'status' },
      critical + warning === 0
        ? 'No warnings.'
        : `${critical} critical, ${counted(warning, 'warning')}, ${counted(info, 'note')}.`,
    ),
    h(
      'ul',
      { class: 'cards' },
      checksOf(findings).map((check) =>
        h('li', { key: `${check.id} ${check.severity}` }, h(Card, { check })),
      ),
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

function Card({
  check: { id, severity, found, remedy },
}: {
  readonly check: CheckFindings;
}): VNode {
  const label = LABELS[severity];
  return h(
    'article',
    { class: `card is-${severity}`, 'aria-label': `${label}: ${id}` },
    h('header', null, h('h4', null, id), h('span', { class: 'card-kind' }, label)),
    found.map((sentence) => h('p', { key: sentence, class: 'card-reason' }, sentence)),
    h('p', { class: 'facts' }, remedy),
  );
}
