import { z } from 'zod';
import { defineTool, type Tool } from './tool.ts';
import { folderPath, WHOLE_FILE } from './workspace-path.ts';

const MOST_HITS = 50;
/** Of one line that was found, in characters. */
const LINE_LENGTH = 200;

/**
 * Finds words in the files that this reader may see. Plain text and no regular expressions: one that a
 * model gets wrong could hold up every chat.
 */
export const grepTool: Tool = defineTool({
  name: 'grep',
  summary: 'Finds the lines of the workspace’s Markdown files that contain a text.',
  hint: 'Plain text, upper and lower case alike; no regular expressions. Try a shorter word when nothing is found.',
  tier: 'filesystem',
  effect: 'read',
  audience: 'everyone',
  approval: 'never',
  input: z.object({
    text: z.string().min(1).max(200).describe('What to look for, as it stands in the files.'),
    folder: z.string().optional().describe('Only in this folder, such as notes.'),
  }),
  async run({ text, folder = '' }, { view, facts, signal }) {
    const wanted = text.toLowerCase();
    const inside = folderPath(folder, facts.workspace);
    const hits: string[] = [];
    let found = 0;
    for (const { name } of await view.list()) {
      signal.throwIfAborted();
      if (!name.startsWith(inside)) continue;
      const file = await view.read(name, WHOLE_FILE);
      if (file.kind === 'absent') continue;
      for (const [index, line] of file.text.split('\n').entries()) {
        if (!line.toLowerCase().includes(wanted)) continue;
        found += 1;
        if (hits.length < MOST_HITS) hits.push(`${name}:${index + 1}: ${around(line, wanted)}`);
      }
    }
    if (found === 0) return { text: 'Nothing was found.' };
    const cut = `[Cut: the first ${MOST_HITS} of ${found} lines are shown.]`;
    return { text: [...hits, ...(found > MOST_HITS ? [cut] : [])].join('\n') };
  },
});

/** The line, or the piece of it around what was found. */
function around(line: string, wanted: string): string {
  if (line.length <= LINE_LENGTH) return line.trim();
  const at = line.toLowerCase().indexOf(wanted);
  const start = Math.max(0, at - LINE_LENGTH / 4);
  return `…${line
    .slice(start, start + LINE_LENGTH)
    .toWellFormed()
    .trim()}…`;
}
