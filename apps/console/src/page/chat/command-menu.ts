import { h, type VNode } from 'preact';
import type { CommandHint } from './wire.ts';

interface MenuProps {
  readonly matches: readonly CommandHint[];
  /** Index of the chosen one. */
  readonly at: number;
  readonly onPick: (text: string) => void;
}

/** The slash commands that fit what is typed; the keys of the field move in it. */
export function CommandMenu({ matches, at, onPick }: MenuProps): VNode | null {
  if (matches.length === 0) return null;
  return h(
    'ul',
    { id: 'commands', class: 'commands', role: 'listbox', 'aria-label': 'Commands' },
    matches.map(({ name, summary }, index) =>
      h(
        'li',
        {
          key: name,
          id: `command-${name}`,
          role: 'option',
          'aria-selected': index === at,
          // Before the field loses its focus.
          onMouseDown: (event: Event) => event.preventDefault(),
          onClick: () => onPick(`/${name}`),
        },
        h('b', null, `/${name}`),
        h('span', null, summary),
      ),
    ),
  );
}
