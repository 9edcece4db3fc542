import type { ContextSource } from '@parley/plugins';

const FILE = 'house-rules.md';

/** Fills in a field that a layer of Parley shows. */
export const houseRules: ContextSource = {
  id: 'house-rules',
  reads: [FILE],
  async gather({ view }) {
    // Files come through the view: what this reader may not see looks as if it were not there.
    const rules = await view.read(FILE);
    if (rules.kind === 'absent') return {};
    const description = 'What counts at this table.';
    return { resources: [{ name: 'House rules', location: FILE, description }] };
  },
};
