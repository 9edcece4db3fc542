import type { PromptFiles } from '@parley/workspace';
import { z } from 'zod';
import { replacedLines } from './replaced-lines.ts';
import { defineTool, type Tool, type ToolOutcome } from './tool.ts';
import { absentWords, PATH_HINT, WHOLE_FILE, workspacePath } from './workspace-path.ts';
import { approvalOf, proposalOf } from './write.ts';

/** Replaces one passage of a file that is there exactly once, for the owner. */
export function editTool(promptFiles: PromptFiles): Tool {
  return defineTool({
    name: 'edit',
    summary: 'Replaces one passage of a text file in the workspace.',
    hint: 'Read the file first. `old` must be in it exactly once, to the last space: take enough of the lines around it.',
    tier: 'filesystem',
    effect: 'write',
    audience: 'owner',
    approval: 'ask-after-foreign-words',
    asksAbout: '`edit` of the same files',
    spares: ({ path }) => !promptFiles.includes(path),
    async proposes({ path, old, new: replacement }, { view, facts }) {
      const name = workspacePath(path, facts.workspace);
      const plan = await view.plan(name, (text) =>
        text === null ? null : editOf(name, text, old, replacement).text,
      );
      return proposalOf(promptFiles, plan);
    },
    input: z.object({
      path: z.string().min(1).describe(PATH_HINT),
      old: z.string().min(1).describe('The passage as it is now.'),
      new: z.string().describe('What stands there afterwards; empty removes the passage.'),
    }),
    async run({ path, old, new: replacement }, { view, facts, approved }) {
      const name = workspacePath(path, facts.workspace);
      const file = await view.read(name, WHOLE_FILE);
      if (file.kind === 'absent') return failed(absentWords(name, file));
      let edit: Edit = { text: null, outcome: failed(absentWords(name, GONE)) };
      const change = (text: string | null) => {
        if (text !== null) edit = editOf(name, text, old, replacement);
        return edit.text;
      };
      const result = await view.change(name, change, approvalOf(approved));
      if (result.kind === 'refused') return failed(`${name} was not changed: ${result.detail}.`);
      return edit.outcome;
    },
  });
}

/** The new text, or null where nothing is to be changed; and what the model is told. */
interface Edit {
  readonly text: string | null;
  readonly outcome: ToolOutcome;
}

/** Somebody took it away a moment ago. */
const GONE = { kind: 'absent', reason: 'missing' } as const;

function editOf(name: string, text: string, old: string, replacement: string): Edit {
  const unchanged = (words: string): Edit => ({ text: null, outcome: failed(words) });
  const places = placesOf(text, old);
  const [at] = places;
  if (at === undefined) return unchanged(notFound(name, text, old));
  if (places.length > 1) return unchanged(ambiguous(name, text, places));
  if (old === replacement) return unchanged('`old` and `new` are the same: nothing was changed.');
  return {
    text: `${text.slice(0, at)}${replacement}${text.slice(at + old.length)}`,
    outcome: { text: `Changed ${name}:\n${replacedLines(text, at, old, replacement)}` },
  };
}

function failed(text: string): ToolOutcome {
  return { text, failed: true };
}

/** Where `wanted` begins; found again behind each of its letters, since passages may overlap. */
function placesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    places.push(at);
  }
  return places;
}

function ambiguous(name: string, text: string, places: readonly number[]): string {
  const lines = places.slice(0, 10).map((at) => lineAt(text, at));
  const more = places.length > lines.length ? ' and more' : '';
  return `${name} was not changed: the passage is in it ${places.length} times, at the lines ${lines.join(', ')}${more}. Take more of what stands around the one you mean.`;
}

/** Mostly the spaces differ, or the case; then the line that was probably meant is told. */
function notFound(name: string, text: string, old: string): string {
  const [firstLine = ''] = old.split('\n').filter((line) => line.trim() !== '');
  const wanted = folded(firstLine);
  const lines = text.split('\n');
  const near = wanted === '' ? -1 : lines.findIndex((line) => folded(line).includes(wanted));
  const hint =
    near === -1
      ? 'Read the file again.'
      : `Line ${near + 1} is nearly the same: ${JSON.stringify(lines[near])}. Spaces, line ends and case count.`;
  return `${name} was not changed: the passage is not in it. ${hint}`;
}

function folded(line: string): string {
  return line.replace(/\s+/g, ' ').trim().toLowerCase();
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}
