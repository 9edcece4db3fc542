import { h, type VNode } from 'preact';
import { amount } from '../ui/amount.ts';
import type { Run } from './read-heartbeat.ts';

/** The last runs, newest first: what came of each, what it cost, and what was told. */
export function RunList({ runs }: { readonly runs: readonly Run[] }): VNode {
  return h(
    'ol',
    { class: 'beat-runs' },
    runs.map(({ id, task, state, words, tokens, alert }) =>
      h(
        'li',
        { key: id },
        h('b', null, task),
        h('span', { class: `beat-outcome is-${state}` }, words),
        h('span', { class: 'beat-tokens' }, `${amount(tokens)} tokens`),
        alert !== '' && h('blockquote', { dir: 'auto' }, alert),
      ),
    ),
  );
}
