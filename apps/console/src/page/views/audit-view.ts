import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Audit, type CheckFindings, readAudit, type Severity } from '../audit/read-audit.ts';
import { useAnswer } from '../prompt/use-answer.ts';
import { Icon } from '../ui/icons.ts';

const WORDS: Readonly<Record<Severity, string>> = {
  critical: 'Critical',
  warning: 'Warning',
  info: 'Note',
};

/** What weakens the guards of this installation, and what to do about it (U05). */
export function AuditView(): VNode {
  const [round, setRound] = useState(0);
  const answer = useAnswer('/api/audit', readAudit, round);
  return h(
    'main',
    { class: 'beat-view audit-view', 'aria-busy': answer.kind === 'waiting' },
    h(
      'div',
      { class: 'beat-column' },
      h(
        'div',
        { class: 'beat-head' },
        h('h2', null, 'Audit'),
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            onClick: () => setRound((last) => last + 1),
            title: 'Check again',
          },
          h(Icon, { name: 'again' }),
          'Check again',
        ),
      ),
      answer.kind === 'waiting' && h('p', { class: 'beat-facts' }, 'Checking…'),
      answer.kind === 'failed' && h('p', { class: 'trouble', role: 'alert' }, answer.reason),
      answer.kind === 'here' && h(Findings, { audit: answer.value }),
    ),
  );
}

function Findings({ audit: { counts, checks } }: { readonly audit: Audit }): VNode {
  const { critical, warning, info } = counts;
  const isFine = critical + warning === 0;
  return h(
    'section',
    { 'aria-label': 'Findings' },
    h(
      'p',
      { class: 'beat-facts', role: 'status' },
      isFine
        ? 'Nothing weakens a guard here.'
        : `${critical} critical, ${counted(warning, 'warning')}, ${counted(info, 'note')}.`,
    ),
    h(
      'ul',
      { class: 'letters' },
      checks.map((check) => h('li', { key: `${check.id} ${check.severity}` }, h(Card, { check }))),
    ),
  );
}

function Card({ check }: { readonly check: CheckFindings }): VNode {
  const { id, severity, found, remedy } = check;
  return h(
    'article',
    { class: `letter is-${severity}`, 'aria-label': `${WORDS[severity]}: ${id}` },
    h('header', null, h('h4', null, id), h('span', { class: 'letter-kind' }, WORDS[severity])),
    found.map((sentence) => h('p', { key: sentence, class: 'letter-reason' }, sentence)),
    h('p', { class: 'beat-facts' }, remedy),
  );
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
