import { z } from 'zod';
import { isStandingInstruction, STANDING_WORDS } from '../approvals/standing-instructions.ts';
import { defineTool, type Tool } from './tool.ts';
import { PATH_HINT, workspacePath } from './workspace-path.ts';

/** Writes a whole file of the workspace, for its owner. */
export const writeTool: Tool = defineTool({
  name: 'write',
  summary: 'Makes a text file in the workspace, or replaces all of its text.',
  hint: 'For new files. To change a part of a file use `edit`; read it first, because everything in it is replaced.',
  tier: 'filesystem',
  effect: 'write',
  audience: 'owner',
  approval: 'ask-after-foreign-words',
  asksAbout: `\`write\` to ${STANDING_WORDS}`,
  spares: ({ path }) => !isStandingInstruction(path),
  input: z.object({
    path: z.string().min(1).describe(PATH_HINT),
    text: z.string().describe('All that the file is to hold.'),
  }),
  async run({ path, text }, { view, facts }) {
    const result = await view.write(workspacePath(path, facts.workspace), text);
    if (result.kind === 'refused') {
      return { text: `${path} was not written: ${result.detail}.`, failed: true };
    }
    const { name, characters, created } = result;
    return { text: `${created ? 'Made' : 'Replaced'} ${name}: ${characters} characters.` };
  },
});
