/** The layouts that come with Parley (P03). */
export const LAYOUTS = ['mushroom', 'lab', 'zeus', 'openclaw', 'neomagi', 'parley'] as const;
export type LayoutName = (typeof LAYOUTS)[number];

const NOTES = ['memory/2026-11-21.md', 'memory/2026-11-20.md'];
/** The output format that the settings name. */
const FORMAT = 'output-formats/loud.md';

/**
 * The files whose text appears in the whole prompt (`full`) of an owner's direct chat, by layout.
 * Repeated here so that a layout that loses one of them is noticed.
 */
export const SHOWN_TO_OWNERS: Readonly<Record<LayoutName, readonly string[]>> = {
  mushroom: ['USER.md', 'AGENTS.md', 'SOUL.md', 'IDENTITY.md', FORMAT],
  // The system prompt is that of the session's first turn, so its files are not checked.
  lab: ['AGENTS.md', 'TOOLS.md', 'USER.md', 'MEMORY.md'],
  zeus: ['SOUL.md', 'TOOLS.md', 'AGENTS.md', 'MEMORY.md', 'USER.md', FORMAT],
  openclaw: [
    ...['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'IDENTITY.md', 'USER.md', 'MEMORY.md'],
    ...[FORMAT, ...NOTES],
  ],
  neomagi: [
    ...['TOOLS.md', 'AGENTS.md', 'SOUL.md', 'USER.md', 'IDENTITY.md', 'MEMORY.md'],
    ...[FORMAT, ...NOTES],
  ],
  parley: ['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'USER.md', 'MEMORY.md', FORMAT, ...NOTES],
};
