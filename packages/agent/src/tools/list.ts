import { z } from 'zod';
import { defineTool, type Tool } from './tool.ts';
import { folderPath } from './workspace-path.ts';

const MOST_ENTRIES = 300;

/** Names the Markdown files that this reader may see. */
export const listTool: Tool = defineTool({
  name: 'list',
  summary: 'Lists the Markdown files of the workspace with their length in characters.',
  tier: 'filesystem',
  effect: 'read',
  audience: 'everyone',
  approval: 'never',
  input: z.object({
    folder: z.string().optional().describe('Only what lies in this folder, such as notes.'),
  }),
  async run({ folder = '' }, { view, facts }) {
    const inside = folderPath(folder, facts.workspace);
    const entries = (await view.list()).filter(({ name }) => name.startsWith(inside));
    if (entries.length === 0) {
      return { text: inside === '' ? 'There are no files.' : `There are no files in ${inside}` };
    }
    const lines = entries
      .slice(0, MOST_ENTRIES)
      .map(({ name, characters }) => `${name} (${characters})`);
    const cut = `[Cut: ${MOST_ENTRIES} of ${entries.length} files are shown. Name a folder.]`;
    return { text: [...lines, ...(entries.length > MOST_ENTRIES ? [cut] : [])].join('\n') };
  },
});
