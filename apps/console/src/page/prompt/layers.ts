import type { Audience, SentPart, SentPrompt, UnsentLayer } from '@parley/core';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { amount, percent } from '../ui/format.ts';
import { p } from '../ui/widgets.ts';

/** The layers of a prompt, and those that are not in it. */
export function PromptLayers({ parts, unsent }: Pick<SentPrompt, 'parts' | 'unsent'>): VNode {
  return h(
    'div',
    null,
    h(WholeBar, { parts }),
    h(LayerRows, { parts }),
    unsent.length > 0 && h(Unsent, { unsent }),
  );
}

interface PartsProps {
  readonly parts: readonly SentPart[];
}

/** How often a layer changes: the colour of its bar. */
function paceOf({ placement, stable }: SentPart): 'standing' | 'turning' | 'data' {
  if (placement === 'user') return 'data';
  return stable ? 'standing' : 'turning';
}

const PACES = [
  { pace: 'standing', label: 'the same every turn' },
  { pace: 'turning', label: 'may change' },
  { pace: 'data', label: 'in the user message' },
] as const;

/** The whole prompt as one bar: what never changes, what changes, what is data. */
function WholeBar({ parts }: PartsProps): VNode {
  const all = tokensOf(parts) || 1;
  const shares = PACES.map(({ pace, label }) => {
    const own = parts.filter((part) => paceOf(part) === pace);
    return { pace, label, share: tokensOf(own) / all };
  });
  return h(
    'div',
    { class: 'whole' },
    h(
      'div',
      { class: 'bar', 'aria-hidden': 'true' },
      parts.map((part, index) =>
        h('i', {
          key: index,
          class: `is-${paceOf(part)}`,
          title: `${part.layer}: ${percent(part.tokens / all)}`,
          style: { flexGrow: part.tokens },
        }),
      ),
    ),
    h(
      'ul',
      { class: 'hint legend' },
      shares
        .filter(({ share }) => share > 0)
        .map(({ pace, label, share }) =>
          h('li', { key: pace }, h('i', { class: `is-${pace}` }), `${percent(share)} ${label}`),
        ),
    ),
  );
}

/** All tokens of a prompt, or of some of its layers. */
export function tokensOf(parts: readonly SentPart[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** The layers in the order they were sent; each unfolds to its text. */
function LayerRows({ parts }: PartsProps): VNode {
  const all = tokensOf(parts) || 1;
  return h(
    'div',
    { class: 'layers' },
    h(
      'div',
      { class: 'hint layer-grid layer-heads', 'aria-hidden': 'true' },
      ['Layer', 'For', 'Share', 'Tokens'].map((head) => h('span', { key: head }, head)),
    ),
    parts.map((part, index) => [
      noteBefore(parts, index),
      h(LayerRow, { key: `${index} ${part.layer}`, part, share: part.tokens / all }),
    ]),
  );
}

const NOTE = 'hint layer-note';

function noteBefore(parts: readonly SentPart[], index: number): VNode | null {
  const [before, here] = [parts[index - 1], parts[index]];
  if (here?.placement === 'user' && before?.placement !== 'user') {
    return p(NOTE, 'In the user message, before the text of the sender');
  }
  if (before?.stable && here && !here.stable) {
    return p(NOTE, 'Cache boundary: nothing above changes from turn to turn');
  }
  return null;
}

function LayerRow({ part, share }: { readonly part: SentPart; readonly share: number }): VNode {
  const { layer, source, audience, cut, tokens, text } = part;
  const [isOpen, setOpen] = useState(false);
  const name = audienceName(audience);
  return h(
    'details',
    {
      class: `layer is-${paceOf(part)}`,
      onToggle: ({ currentTarget }: Event) =>
        setOpen(currentTarget instanceof HTMLDetailsElement && currentTarget.open),
    },
    h(
      'summary',
      { class: 'layer-grid' },
      h(
        'span',
        { class: 'layer-name' },
        h('b', null, layer),
        h('small', { class: 'hint' }, source),
        cut && h('em', { class: 'cut' }, `cut: ${amount(cut.shown)} of ${amount(cut.total)}`),
      ),
      h(
        'span',
        { class: `badge for-${name.replace(' ', '-')}` },
        name === 'owner' ? 'owner only' : name,
      ),
      h(
        'span',
        { class: 'bar', title: percent(share) },
        h('i', { style: { width: `${Math.max(share * 100, 0.5)}%` } }),
      ),
      h('span', { class: 'layer-size' }, amount(tokens)),
    ),
    // A long text is laid out only once it is opened.
    isOpen && h('pre', { class: 'layer-text', tabIndex: 0, dir: 'auto' }, text),
    isOpen &&
      p('hint layer-foot', `${amount(text.length)} characters, about ${amount(tokens)} tokens`),
  );
}

/** Who may see a text; an unknown audience counts as private. */
export function audienceName(audience: Audience | undefined): 'owner' | 'this chat' | 'everyone' {
  switch (audience?.kind) {
    case 'everyone':
      return 'everyone';
    case 'conversation':
      return 'this chat';
    default:
      return 'owner';
  }
}

function Unsent({ unsent }: { readonly unsent: readonly UnsentLayer[] }): VNode {
  return h(
    'section',
    { class: 'facts unsent' },
    h('h3', null, 'Not in the prompt'),
    h(
      'dl',
      null,
      unsent.map((layer, index) =>
        h(
          'div',
          { key: index, class: `is-${layer.outcome}` },
          h('dt', null, layer.layer),
          h('dd', null, whyUnsent(layer)),
        ),
      ),
    ),
  );
}

/** Why a layer is not in the prompt. */
export function whyUnsent(unsent: UnsentLayer): string {
  switch (unsent.outcome) {
    case 'absent':
      return unsent.reason;
    case 'withheld':
      return `withheld: ${unsent.source} is for ${audienceName(unsent.audience)}, not for the sender`;
    case 'failed':
      return `failed: ${unsent.reason}`;
  }
}
