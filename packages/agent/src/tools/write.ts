import { isOwnersByDefault, type PromptFiles, type WritePlan } from '@parley/workspace';
import { z } from 'zod';
import { defineTool, type Proposal, type Tool, type ToolCall } from './tool.ts';
import { PATH_HINT, workspacePath } from './workspace-path.ts';

/** Writes a whole file of the workspace, for its owner. Open files and prompt files need an approval (W09). */
export function writeTool(promptFiles: PromptFiles): Tool {
  return defineTool({
    name: 'write',
    summary: 'Makes a text file in the workspace, or replaces all of its text.',
    hint: 'For new files, which your owner alone can read; begin one with front matter that says `audience: everyone` if others shall read it, and a person is asked. To change a part of a file use `edit`; read it first, because everything in it is replaced.',
    tier: 'filesystem',
    effect: 'write',
    audience: 'owner',
    approval: 'ask-after-foreign-words',
    asksAbout: `\`write\` to ${listed(promptFiles.patterns)}`,
    spares: ({ path }) => !promptFiles.includes(path),
    proposes: async ({ path, text }, { view, facts }) => {
      const plan = await view.plan(workspacePath(path, facts.workspace), () => text);
      return proposalOf(promptFiles, plan);
    },
    input: z.object({
      path: z.string().min(1).describe(PATH_HINT),
      text: z.string().describe('All that the file is to hold.'),
    }),
    async run({ path, text }, { view, facts, approved }) {
      const name = workspacePath(path, facts.workspace);
      const result = await view.write(name, text, approvalOf(approved));
      if (result.kind === 'refused') {
        return { text: `${path} was not written: ${result.detail}.`, failed: true };
      }
      const { characters, created } = result;
      return { text: `${created ? 'Made' : 'Replaced'} ${name}: ${characters} characters.` };
    },
  });
}

/**
 * What a person has to see of a write before it is done (W09): the whole file, where others can read
 * it or follow it afterwards, and where later turns of the owner follow it. Null for the owner's notes.
 */
export function proposalOf(promptFiles: PromptFiles, plan: WritePlan): Proposal | null {
  if (plan.kind !== 'planned') return null;
  const { name, content, created, access } = plan;
  if (access === 'closed' && !promptFiles.includes(name)) return null;
  // What lies among prompt files for others, and a new one, is meant for them, though it is closed now.
  const isForOthers = !isOwnersByDefault(name) && (created || name.includes('/'));
  return {
    shown: { path: name, readers: READERS[access], whole_file: content },
    content,
    always: access !== 'closed' || isForOthers,
  };
}

const READERS = {
  closed: 'the owner alone',
  open: 'everybody, as before',
  opened: 'everybody, from now on',
} as const;

/** For views: what was approved, where a person was asked. */
export function approvalOf(approved: ToolCall['approved']) {
  return approved === undefined ? undefined : ({ by: 'approval', content: approved } as const);
}

/** Such as `A, B or C`. */
function listed(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' or ');
}
