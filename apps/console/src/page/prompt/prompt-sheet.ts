import { h, type VNode } from 'preact';
import { amount, percent } from '../ui/amount.ts';
import { momentOf } from '../ui/moment.ts';
import { LayerRows, paceOf } from './layer-rows.ts';
import type { PromptLayer, PromptSheet, TurnEntry, UnsentLayer } from './read-prompt.ts';
import { whereOf } from './turn-list.ts';

/** Everything that one turn told its model. */
export function SheetView({ sheet }: { readonly sheet: PromptSheet }): VNode {
  const { layers, unsent, tools, messages } = sheet;
  return h(
    'div',
    { class: 'sheet' },
    h(PromptLayers, { layers, unsent }),
    h(
      'dl',
      { class: 'beside' },
      h('dt', null, 'Tools it could call'),
      h('dd', null, tools.length === 0 ? 'none' : tools.join(', ')),
      h('dt', null, 'Messages sent along'),
      h(
        'dd',
        null,
        messages.map(({ role, characters }) => `${role} ${amount(characters)}`).join(' · '),
        ' (characters)',
      ),
    ),
  );
}

/** What was told, layer by layer, and what was not. */
export function PromptLayers({ layers, unsent }: Pick<PromptSheet, 'layers' | 'unsent'>): VNode {
  return h(
    'div',
    null,
    h(WholeBar, { layers }),
    h(LayerRows, { layers }),
    unsent.length > 0 && h(Unsent, { unsent }),
  );
}

/** Which turn it is, in words. */
export function TurnTitle({ turn }: { readonly turn: TurnEntry }): VNode {
  const { at, personName, personId, channel, account, layout, model, tokens, characters } = turn;
  return h(
    'header',
    { class: 'turn-title' },
    h('h2', null, whereOf(turn)),
    h('p', null, `${momentOf(at)} · ${personName} (${personId}) · ${channel}/${account}`),
    h(
      'p',
      null,
      h('b', null, `${amount(tokens)} tokens`),
      ` in ${amount(characters)} characters · layout ${layout} · ${model}`,
    ),
    h('p', { class: 'turn-id' }, turn.turnId),
  );
}

/** The whole prompt as one bar: how much of it never changes, changes, and is data. */
function WholeBar({ layers }: { readonly layers: readonly PromptLayer[] }): VNode {
  const all = layers.reduce((sum, { tokens }) => sum + tokens, 0) || 1;
  const paces = [
    { pace: 'standing', words: 'the same every turn' },
    { pace: 'turning', words: 'may change' },
    { pace: 'data', words: 'in the user message' },
  ] as const;
  const shares = paces.map(({ pace, words }) => {
    const own = layers.filter((layer) => paceOf(layer) === pace);
    return { pace, words, share: own.reduce((sum, { tokens }) => sum + tokens, 0) / all };
  });
  return h(
    'div',
    { class: 'whole' },
    h(
      'div',
      { class: 'whole-bar', 'aria-hidden': 'true' },
      layers.map((layer, index) =>
        h('i', {
          key: index,
          class: `is-${paceOf(layer)}`,
          title: `${layer.layer}: ${percent(layer.tokens / all)}`,
          style: { flexGrow: layer.tokens },
        }),
      ),
    ),
    h(
      'ul',
      { class: 'legend' },
      shares
        .filter(({ share }) => share > 0)
        .map(({ pace, words, share }) =>
          h('li', { key: pace }, h('i', { class: `is-${pace}` }), `${percent(share)} ${words}`),
        ),
    ),
  );
}

function Unsent({ unsent }: { readonly unsent: readonly UnsentLayer[] }): VNode {
  return h(
    'section',
    { class: 'unsent' },
    h('h3', null, 'Not in the prompt'),
    h(
      'dl',
      null,
      unsent.map(({ layer, outcome, reason }, index) =>
        h(
          'div',
          { key: index, class: `is-${outcome}` },
          h('dt', null, layer),
          h('dd', null, outcome === 'absent' ? reason : `${outcome}: ${reason}`),
        ),
      ),
    ),
  );
}
