import type { PartComparison, PromptComparison, TextPiece } from '@parley/prompt';
import { h, type VNode } from 'preact';
import { amount, percent } from '../ui/format.ts';
import { p } from '../ui/widgets.ts';

/** Two prompts: their shared prefix, and what differs. */
export function ComparisonView({ comparison }: { readonly comparison: PromptComparison }): VNode {
  const { before, after, prefix, share, parts } = comparison;
  const end = parts.findIndex((part) => !isShared(part));
  return h(
    'div',
    { class: 'comparison' },
    h(
      'div',
      { class: 'whole' },
      p(
        'shared-words',
        h('b', null, percent(share)),
        ` of this prompt is a prefix that both share: ${amount(prefix.characters)} characters, about ${amount(prefix.tokens)} tokens.`,
      ),
      h(
        'div',
        { class: 'bar', 'aria-hidden': 'true' },
        h('i', { style: { width: `${share * 100}%` } }),
      ),
      p('hint', `Before ${amount(before.tokens)} tokens, now ${amount(after.tokens)}.`),
    ),
    parts.map((part, index) => [
      index === end && p(END, 'The shared prefix ends here'),
      h(ChangeRow, { key: `${index} ${part.layer}`, part }),
    ]),
    end === -1 && p(END, 'The two are the same to the last character'),
  );
}

const END = 'hint layer-note ruled prefix-end';

const LABELS: Readonly<Record<PartComparison['change'], string>> = {
  same: 'the same',
  changed: 'changed',
  added: 'new',
  removed: 'removed',
};

function ChangeRow({ part }: { readonly part: PartComparison }): VNode {
  const { layer, change } = part;
  return h(
    'details',
    { class: `layer change is-${change}`, open: change !== 'same' },
    h(
      'summary',
      null,
      h('b', null, layer),
      h('span', { class: `badge change-${change}` }, LABELS[change]),
    ),
    h(
      'pre',
      { class: 'layer-text', tabIndex: 0, dir: 'auto' },
      stretchesOf(part).map((stretch, index) => h(StretchText, { key: index, stretch })),
    ),
  );
}

function StretchText({ stretch }: { readonly stretch: Stretch }): VNode {
  const { kind, text, shared } = stretch;
  const look = shared ? { class: 'is-shared' } : {};
  if (kind === 'removed') return h('del', look, text);
  if (kind === 'added') return h('ins', look, text);
  return h('span', look, text);
}

/** Whether a whole layer is part of the shared prefix. */
function isShared({ change, pieces, shared }: PartComparison): boolean {
  const length = pieces.reduce((sum, { text }) => sum + text.length, 0);
  return change === 'same' && shared === length;
}

/** A stretch of a layer's text: how it changed, and whether it is in the shared prefix. */
interface Stretch extends TextPiece {
  readonly shared: boolean;
}

/**
 * The pieces of a layer, cut where the shared prefix ends. It ends within the first line that differs, so
 * the beginnings of the removed and of the added line are both part of it.
 */
export function stretchesOf({ pieces, shared }: PartComparison): readonly Stretch[] {
  let left = { removed: shared, added: shared };
  return pieces.flatMap(({ kind, text }) => {
    const within = Math.max(
      0,
      Math.min(text.length, kind === 'removed' ? left.removed : left.added),
    );
    if (kind !== 'added') left = { ...left, removed: left.removed - text.length };
    if (kind !== 'removed') left = { ...left, added: left.added - text.length };
    const cut = [
      { kind, text: text.slice(0, within), shared: true },
      { kind, text: text.slice(within), shared: false },
    ];
    return cut.filter((stretch) => stretch.text !== '');
  });
}
