/** The layouts that come with Parley (P03). */
export const LAYOUTS = ['parley'] as const;
export type LayoutName = (typeof LAYOUTS)[number];

/**
 * The files whose text stands in the whole prompt (`full`) of an owner's direct chat, by layout: said
 * here once more, so that a layout that loses one of them is noticed.
 */
export const SHOWN_TO_OWNERS: Readonly<Record<LayoutName, readonly string[]>> = {
  parley: ['AGENTS.md', 'SOUL.md'],
};
