import type { VNode } from 'preact';

/** In a box of 24 by 24. */
const PATHS = {
  send: 'M12 19V5.500M5.500 11.500 12 5l6.500 6.500',
  attach:
    'M18.500 11.500 12 18a4 4 0 0 1-5.700-5.700l7-7a2.700 2.700 0 0 1 3.800 3.800l-6.800 6.800a1.300 1.300 0 0 1-1.900-1.900l6-6',
  stop: 'M7 7h10v10H7z',
  down: 'M12 5v13.500M5.500 12.500 12 19l6.500-6.500',
  fresh: 'M12 5v14M5 12h14',
  menu: 'M4.500 7h15M4.500 12h15M4.500 17h15',
  chat: 'M4.500 6.500h15v10h-8l-4.500 3.500v-3.500h-2.500z',
  talks: 'M3.500 5h11v7.500h-6L5.500 15v-2.500h-2zM9.500 15.500v1h5l3.500 3v-3h2.500V9h-3',
  prompt:
    'M12 4 3.500 8.500 12 13l8.500-4.500zM3.500 12.500 12 17l8.500-4.500M3.500 16.500 12 21l8.500-4.500',
  soul: 'M12 20s-7.500-4.600-7.500-10a4.200 4.200 0 0 1 7.500-2.600A4.200 4.200 0 0 1 19.500 10c0 5.400-7.500 10-7.500 10z',
  heartbeat: 'M3 12.500h4l2.500-6 4.500 12 2.500-6H21',
  why: 'M8.500 9a3.500 3.500 0 1 1 5 3.200c-1 .500-1.500 1.200-1.500 2.300M12 18.500v.500',
  status: 'M5 18a8.500 8.500 0 1 1 14 0M12 14l3.500-4.500',
  queue: 'M4 13.500h4.500l1.500 2.500h4l1.500-2.500H20M6.500 5.500h11L20 13.500v5H4v-5z',
  usage: 'M5.500 19v-5.500M12 19V5M18.500 19v-9',
  audit:
    'M12 3.500 5 6v5.500c0 4.500 3 7.500 7 9 4-1.500 7-4.500 7-9V6zM9 11.500l2.200 2.300 4-4.300',
  settings:
    'M4 7.500h9M17.500 7.500H20M15.200 5.200a2.300 2.300 0 1 0 .001 0M4 16.500h3M11.500 16.500H20M9.200 14.200a2.300 2.300 0 1 0 .001 0',
  channels: 'M8.500 4v5M15.500 4v5M5.500 9h13v3a6.500 6.500 0 0 1-13 0zM12 18.500V21',
  again: 'M19.500 12a7.500 7.500 0 1 1-2.200-5.300M19.500 4v4h-4',
  key: 'M8.500 19a4.500 4.500 0 1 1 0-9 4.500 4.500 0 0 1 0 9zM11.700 11.300 19.500 3.500M16 7l2.500 2.500',
  back: 'M14.500 5.500 8 12l6.500 6.500',
} as const;

/** A drawing of `Icon`. */
export type IconName = keyof typeof PATHS;

/** A line drawing in the colour of its text; says nothing to a screen reader, its button does. */
export function Icon({ name }: { readonly name: IconName }): VNode {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
