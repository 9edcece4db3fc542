import { h, type VNode } from 'preact';
import { amount, percent } from '../ui/amount.ts';
import { type Comparison, type LayerChange, type Stretch, stretchesOf } from './read-comparison.ts';

/** Two prompts: what they share from the beginning on, and what differs. */
export function ComparisonView({ comparison }: { readonly comparison: Comparison }): VNode {
  const { before, after, prefix, share, layers } = comparison;
  const end = layers.findIndex((layer) => !isShared(layer));
  return h(
    'div',
    { class: 'comparison' },
    h(
      'div',
      { class: 'whole' },
      h(
        'p',
        { class: 'shared-words' },
        h('b', null, percent(share)),
        ` of this prompt is the same from its beginning on: ${amount(prefix.characters)} characters, about ${amount(prefix.tokens)} tokens.`,
      ),
      h(
        'div',
        { class: 'shared-bar', 'aria-hidden': 'true' },
        h('i', { style: { width: `${share * 100}%` } }),
      ),
      h(
        'p',
        { class: 'layer-foot' },
        `Earlier ${amount(before.tokens)} tokens, now ${amount(after.tokens)}.`,
      ),
    ),
    layers.map((layer, index) => [
      index === end && h('p', { class: 'layer-note prefix-end' }, 'The shared beginning ends here'),
      h(ChangeRow, { key: `${index} ${layer.layer}`, layer }),
    ]),
    end === -1 &&
      h('p', { class: 'layer-note prefix-end' }, 'The two are the same to the last character'),
  );
}

const WORDS: Readonly<Record<LayerChange['change'], string>> = {
  same: 'the same',
  changed: 'changed',
  added: 'new',
  removed: 'gone',
};

function ChangeRow({ layer }: { readonly layer: LayerChange }): VNode {
  const { change } = layer;
  return h(
    'details',
    { class: `layer change is-${change}`, open: change !== 'same' },
    h(
      'summary',
      null,
      h('b', null, layer.layer),
      h('span', { class: `badge change-${change}` }, WORDS[change]),
    ),
    h(
      'pre',
      { class: 'layer-text', tabIndex: 0, dir: 'auto' },
      stretchesOf(layer).map((stretch, index) => h(StretchText, { key: index, stretch })),
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

/** Whether a layer lies in the shared beginning to its end. */
function isShared({ change, pieces, shared }: LayerChange): boolean {
  const length = pieces.reduce((sum, { text }) => sum + text.length, 0);
  return change === 'same' && shared === length;
}
