import { h, type VNode } from 'preact';
import { hrefOf } from '../route.ts';
import { amount } from '../ui/amount.ts';
import { momentOf } from '../ui/moment.ts';
import type { TurnEntry } from './read-prompt.ts';
import { whereOf } from './turn-list.ts';

interface CompareChoiceProps {
  readonly turn: TurnEntry;
  readonly turns: readonly TurnEntry[];
  readonly against: string | null;
}

/** Chooses an earlier turn to compare with; turns of the same chat come first. */
export function CompareChoice({ turn, turns, against }: CompareChoiceProps): VNode | null {
  const others = turns.filter(({ turnId }) => turnId !== turn.turnId);
  if (others.length === 0 && against === null) return null;
  const isHere = ({ conversationId }: TurnEntry): boolean => conversationId === turn.conversationId;
  const go = (other: string): void => {
    const next = other === '' ? null : other;
    location.hash = hrefOf({ view: 'prompt', turn: turn.turnId, against: next });
  };
  const option = (entry: TurnEntry): VNode =>
    h('option', { key: entry.turnId, value: entry.turnId }, optionWords(entry));
  const known = against === null || others.some(({ turnId }) => turnId === against);
  return h(
    'label',
    { class: 'compare-choice' },
    h('span', null, 'Compare with'),
    h(
      'select',
      {
        value: against ?? '',
        onChange: (event: Event) => {
          if (event.currentTarget instanceof HTMLSelectElement) go(event.currentTarget.value);
        },
      },
      h('option', { value: '' }, 'nothing'),
      !known && h('option', { value: against }, against),
      h('optgroup', { label: 'This chat' }, others.filter(isHere).map(option)),
      h('optgroup', { label: 'Other chats' }, others.filter((entry) => !isHere(entry)).map(option)),
    ),
  );
}

function optionWords(turn: TurnEntry): string {
  const { at, tokens } = turn;
  return `${momentOf(at)} · ${whereOf(turn)} · ${amount(tokens)} tokens`;
}
