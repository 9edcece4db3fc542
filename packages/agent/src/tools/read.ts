import { z } from 'zod';
import { defineTool, type Tool } from './tool.ts';
import { absentWords, PATH_HINT, WHOLE_FILE, workspacePath } from './workspace-path.ts';

/** Of one reading, in characters; the rest is read by further calls. */
const MOST_CHARACTERS = 16_000;

/** Reads a file of the workspace, all of it or some lines. */
export const readTool: Tool = defineTool({
  name: 'read',
  summary: 'Reads a text file of the workspace.',
  hint: 'Look before you say what a file holds, and before you change it. Long files come in pieces: go on with `offset`.',
  tier: 'filesystem',
  effect: 'read',
  audience: 'everyone',
  approval: 'never',
  input: z.object({
    path: z.string().min(1).describe(PATH_HINT),
    offset: z.int().min(1).optional().describe('First line to read, from 1.'),
    limit: z.int().min(1).optional().describe('How many lines to read; all when absent.'),
  }),
  async run({ path, offset = 1, limit }, { view, facts }) {
    const name = workspacePath(path, facts.workspace);
    const file = await view.read(name, WHOLE_FILE);
    if (file.kind === 'absent') return { text: absentWords(name, file), failed: true };
    const lines = file.text.split('\n');
    if (offset > lines.length) {
      const text = `${name} has ${lines.length} lines; there is no line ${offset}.`;
      return { text, failed: true };
    }
    return { text: pieceOf(name, lines, offset, limit ?? lines.length) };
  },
});

/** As many whole lines as fit, and how to get the rest. */
function pieceOf(name: string, lines: readonly string[], offset: number, limit: number): string {
  const wanted = lines.slice(offset - 1, offset - 1 + limit);
  let characters = 0;
  const tooMany = wanted.findIndex((line) => {
    characters += line.length + 1;
    return characters > MOST_CHARACTERS;
  });
  if (tooMany === 0) return cutLine(name, wanted[0] ?? '', offset, lines.length);
  const shown = tooMany === -1 ? wanted : wanted.slice(0, tooMany);
  const last = offset - 1 + shown.length;
  if (shown.length === lines.length) return shown.join('\n');
  const more = last < lines.length ? ` Read on with offset ${last + 1}.` : '';
  return `${shown.join('\n')}\n\n[Cut: lines ${offset} to ${last} of ${lines.length} of ${name} are shown.${more}]`;
}

function cutLine(name: string, line: string, at: number, of: number): string {
  const start = line.slice(0, MOST_CHARACTERS).toWellFormed();
  return `${start}\n\n[Cut: the first ${MOST_CHARACTERS} of ${line.length} characters of line ${at} of ${of} of ${name} are shown.]`;
}
