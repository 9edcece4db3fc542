import type { PromptFiles } from '@parley/workspace';
import { z } from 'zod';
import { defineTool, type Tool } from './tool.ts';
import { PATH_HINT, workspacePath } from './workspace-path.ts';

/** Writes a whole file of the workspace, for its owner. Prompt files need an approval (W09). */
export function writeTool(promptFiles: PromptFiles): Tool {
  return defineTool({
    name: 'write',
    summary: 'Makes a text file in the workspace, or replaces all of its text.',
    hint: 'For new files. To change a part of a file use `edit`; read it first, because everything in it is replaced.',
    tier: 'filesystem',
    effect: 'write',
    audience: 'owner',
    approval: 'ask-after-foreign-words',
    asksAbout: `\`write\` to ${listed(promptFiles.patterns)}`,
    spares: ({ path }) => !promptFiles.includes(path),
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
}

/** Such as `A, B or C`. */
function listed(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' or ');
}
