import type { ContextSource } from '@parley/plugins';

const FILE = 'house-rules.md';

/** Provides the content of a field in one of Parley's layers. */
export const houseRules: ContextSource = {
  id: 'house-rules',
  reads: [FILE],
  async gather({ view }) {
    // Files are read through the view, in which a file that this reader may not see appears to be
    // absent.
    const rules = await view.read(FILE);
    if (rules.kind === 'absent') return {};
    const description = 'What counts at this table.';
    return { resources: [{ name: 'House rules', location: FILE, description }] };
  },
};
