import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { amount, percent } from '../ui/amount.ts';
import type { PromptLayer } from './read-prompt.ts';

interface LayersProps {
  readonly layers: readonly PromptLayer[];
}

/** The layers in the order they were sent; each unfolds to its text. */
export function LayerRows({ layers }: LayersProps): VNode {
  const all = layers.reduce((sum, { tokens }) => sum + tokens, 0);
  return h(
    'div',
    { class: 'layers' },
    h(
      'div',
      { class: 'layer-grid layer-heads', 'aria-hidden': 'true' },
      ['Layer', 'For', 'Share', 'Tokens'].map((head) => h('span', { key: head }, head)),
    ),
    layers.map((layer, index) => [
      noteBefore(layers, index),
      h(LayerRow, {
        key: `${index} ${layer.layer}`,
        layer,
        share: all === 0 ? 0 : layer.tokens / all,
      }),
    ]),
  );
}

/** Where something begins that the reader should know of. */
function noteBefore(layers: readonly PromptLayer[], index: number): VNode | null {
  const [before, here] = [layers[index - 1], layers[index]];
  if (here?.placement === 'user' && before?.placement !== 'user') {
    return h('p', { class: 'layer-note' }, 'In the user message, before the person’s words');
  }
  if (before?.stable && here && !here.stable) {
    return h(
      'p',
      { class: 'layer-note' },
      'Cache boundary: nothing above changes from turn to turn',
    );
  }
  return null;
}

/** How a layer changes: the colour of its bar. */
export function paceOf({ placement, stable }: PromptLayer): 'standing' | 'turning' | 'data' {
  if (placement === 'user') return 'data';
  return stable ? 'standing' : 'turning';
}

function LayerRow({
  layer,
  share,
}: {
  readonly layer: PromptLayer;
  readonly share: number;
}): VNode {
  const { layer: id, source, audience, cut, tokens, text } = layer;
  const [open, setOpen] = useState(false);
  const audienceClass = `badge for-${audience.replace(' ', '-')}`;
  return h(
    'details',
    {
      class: `layer is-${paceOf(layer)}`,
      onToggle: ({ currentTarget }: Event) =>
        setOpen(currentTarget instanceof HTMLDetailsElement && currentTarget.open),
    },
    h(
      'summary',
      { class: 'layer-grid' },
      h(
        'span',
        { class: 'layer-name' },
        h('b', null, id),
        h('small', null, source),
        cut && h('em', { class: 'cut' }, `cut: ${amount(cut.shown)} of ${amount(cut.total)}`),
      ),
      h('span', { class: audienceClass }, audience === 'owner' ? 'owner only' : audience),
      h(
        'span',
        { class: 'bar', title: percent(share) },
        h('i', { style: { width: `${Math.max(share * 100, 0.5)}%` } }),
      ),
      h('span', { class: 'layer-size' }, amount(tokens)),
    ),
    // A long text is laid out only once somebody wants to read it.
    open && h('pre', { class: 'layer-text', tabIndex: 0, dir: 'auto' }, text),
    open &&
      h(
        'p',
        { class: 'layer-foot' },
        `${amount(text.length)} characters, about ${amount(tokens)} tokens`,
      ),
  );
}
