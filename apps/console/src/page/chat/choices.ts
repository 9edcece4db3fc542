import { h, type VNode } from 'preact';
import type { Button } from './wire.ts';

interface ChoicesProps {
  readonly buttons: readonly Button[];
  /** The one that was pressed; then there is nothing to choose any more. */
  readonly chosen: Button | null;
  readonly onPress: (button: Button) => void;
}

/** The buttons below an answer. None stands out: a yes must not be easier than a no. */
export function Choices({ buttons, chosen, onPress }: ChoicesProps): VNode | null {
  if (buttons.length === 0) return null;
  if (chosen !== null) {
    return h('p', { class: 'chosen' }, 'You chose ', h('b', null, chosen.label), '.');
  }
  return h(
    'div',
    { class: 'choices', role: 'group', 'aria-label': 'Your choice' },
    buttons.map((button) =>
      h(
        'button',
        { key: button.data, type: 'button', onClick: () => onPress(button) },
        button.label,
      ),
    ),
  );
}
