import { h, type VNode } from 'preact';

const PATHS = {
  send: 'M12 19V5.500M5.500 11.500 12 5l6.500 6.500',
  stop: 'M7 7h10v10H7z',
  down: 'M12 5v13.500M5.500 12.500 12 19l6.500-6.500',
  fresh: 'M12 5v14M5 12h14',
} as const;

/** A line drawing in the colour of its text; says nothing to a screen reader, its button does. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }): VNode {
  const shape = h('path', { d: PATHS[name] });
  return h(
    'svg',
    { class: `icon icon-${name}`, viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    shape,
  );
}
