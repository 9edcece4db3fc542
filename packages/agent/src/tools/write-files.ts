import { isPrivateByDefault, type PromptFiles, type WritePlan } from '@parley/workspace';
import { z } from 'zod';
import { explainMissingFile, PATH_HINT, toWorkspacePath, WHOLE_FILE } from './read-files.ts';
import {
  createFailedOutcome,
  defineTool,
  type Proposal,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from './tool.ts';

/**
 * Writes a whole workspace file, for its owner. Open files and prompt files need an approval (W09).
 */
export function createWriteTool(promptFiles: PromptFiles): Tool {
  return defineTool({
    name: 'write',
    summary: 'Creates a text file in the workspace, or replaces its whole text.',
    hint: 'To change part of a file, use `edit`. Only your owner can read a new file; if others may, start it with front matter `audience: everyone`, and a person is asked.',
    tier: 'filesystem',
    effect: 'write',
    audience: 'owner',
    approval: 'ask-after-untrusted-text',
    asksAbout: `\`write\` to ${joinWithOr(promptFiles.patterns)}`,
    spares: ({ path }) => !promptFiles.includes(path),
    proposes: async ({ path, text }, { view, facts }) => {
      const plan = await view.plan(toWorkspacePath(path, facts.workspace), () => text);
      return proposeWrite(promptFiles, plan);
    },
    input: z.object({
      path: z.string().min(1).describe(PATH_HINT),
      text: z.string(),
    }),
    async run({ path, text }, { view, facts, approved }) {
      const name = toWorkspacePath(path, facts.workspace);
      const result = await view.write(name, text, toViewApproval(approved));
      if (result.kind === 'refused') {
        return createFailedOutcome(`${path} was not written: ${result.detail}.`);
      }
      const { characters, created } = result;
      return { text: `${created ? 'Made' : 'Replaced'} ${name}: ${characters} characters.` };
    },
  });
}

/**
 * The proposal that a person must see before a write (W09): the whole file, if others can read it
 * or it becomes prompt text for others or for later turns of the owner. Null for the owner's notes.
 */
function proposeWrite(promptFiles: PromptFiles, plan: WritePlan): Proposal | null {
  if (plan.kind !== 'planned') return null;
  const { name, content, created, access } = plan;
  if (access === 'closed' && !promptFiles.includes(name)) return null;
  // A file in a prompt folder for others, and any new file that is not the owner's by default, is
  // meant for others even if it is private now.
  const isForOthers = !isPrivateByDefault(name) && (created || name.includes('/'));
  return {
    shown: { path: name, readers: READERS[access], whole_file: content },
    content,
    always: access !== 'closed' || isForOthers,
  };
}

const READERS = {
  closed: 'the owner alone',
  open: 'everyone, as before',
  opened: 'everyone, from now on',
} as const;

/**
 * Converts an approval to the form that views accept: the content that a person approved, if one
 * was asked.
 */
function toViewApproval(approved: ToolCall['approved']) {
  return approved === undefined ? undefined : ({ by: 'approval', content: approved } as const);
}

function joinWithOr(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter(Boolean).join(' or ');
}

/** Replaces one passage that occurs exactly once in a file, for the owner. */
export function createEditTool(promptFiles: PromptFiles): Tool {
  return defineTool({
    name: 'edit',
    summary: 'Replaces a passage in a text file in the workspace.',
    hint: 'Read the file first. `old` must occur in it exactly once, to the last space: include enough of the lines around it.',
    tier: 'filesystem',
    effect: 'write',
    audience: 'owner',
    approval: 'ask-after-untrusted-text',
    asksAbout: '`edit` of the same files',
    spares: ({ path }) => !promptFiles.includes(path),
    async proposes({ path, old, new: replacement }, { view, facts }) {
      const name = toWorkspacePath(path, facts.workspace);
      const plan = await view.plan(name, (text) =>
        text === null ? null : replacePassage(name, text, old, replacement).text,
      );
      return proposeWrite(promptFiles, plan);
    },
    input: z.object({
      path: z.string().min(1),
      old: z.string().min(1),
      new: z.string().describe('Empty deletes the passage.'),
    }),
    async run({ path, old, new: replacement }, { view, facts, approved }) {
      const name = toWorkspacePath(path, facts.workspace);
      const file = await view.read(name, WHOLE_FILE);
      if (file.kind === 'absent') return createFailedOutcome(explainMissingFile(name, file));
      let edit: EditResult = {
        text: null,
        outcome: createFailedOutcome(explainMissingFile(name, GONE)),
      };
      const change = (text: string | null) => {
        if (text !== null) edit = replacePassage(name, text, old, replacement);
        return edit.text;
      };
      const result = await view.change(name, change, toViewApproval(approved));
      if (result.kind === 'refused')
        return createFailedOutcome(`${name} was not changed: ${result.detail}.`);
      return edit.outcome;
    },
  });
}

/** Returns the new text (null if nothing changes) and the result for the model. */
interface EditResult {
  readonly text: string | null;
  readonly outcome: ToolOutcome;
}

/** The file was removed between the two reads. */
const GONE = { kind: 'absent', reason: 'missing' } as const;

function replacePassage(name: string, text: string, old: string, replacement: string): EditResult {
  const unchanged = (reason: string): EditResult => ({
    text: null,
    outcome: createFailedOutcome(reason),
  });
  const places = findPositions(text, old);
  const [at] = places;
  if (at === undefined) return unchanged(describeMissingText(name, text, old));
  if (places.length > 1) return unchanged(describeAmbiguousMatch(name, text, places));
  if (old === replacement) return unchanged('`old` and `new` are the same: nothing was changed.');
  return {
    text: `${text.slice(0, at)}${replacement}${text.slice(at + old.length)}`,
    outcome: { text: `Changed ${name}:\n${listReplacedLines(text, at, old, replacement)}` },
  };
}

/**
 * Returns the positions at which `wanted` occurs. The search continues one character after each
 * match, because matches may overlap.
 */
function findPositions(text: string, wanted: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    places.push(at);
  }
  return places;
}

function describeAmbiguousMatch(name: string, text: string, places: readonly number[]): string {
  const lines = places.slice(0, 10).map((at) => getLineNumber(text, at));
  const more = places.length > lines.length ? ' and more' : '';
  return `${name} was not changed: the passage is in it ${places.length} times, at the lines ${lines.join(', ')}${more}. Take more of what stands around the one you mean.`;
}

/** Usually whitespace or case differs, so the result names the line that was probably meant. */
function describeMissingText(name: string, text: string, old: string): string {
  const [firstLine = ''] = old.split('\n').filter((line) => line.trim() !== '');
  const wanted = normalizeLine(firstLine);
  const lines = text.split('\n');
  const near = wanted === '' ? -1 : lines.findIndex((line) => normalizeLine(line).includes(wanted));
  const hint =
    near === -1
      ? 'Read the file again.'
      : `Line ${near + 1} is nearly the same: ${JSON.stringify(lines[near])}. Spaces, line ends and case count.`;
  return `${name} was not changed: the passage is not in it. ${hint}`;
}

function normalizeLine(line: string): string {
  return line.replace(/\s+/g, ' ').trim().toLowerCase();
}

function getLineNumber(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}

/** How many lines are shown on each side of a change. */
const MAX_LINES = 12;

/**
 * Shows the changed lines of a replacement, as whole lines with `-` and `+`, so that a model sees
 * its own mistakes. `at` is the position of `old` in `before`.
 */
function listReplacedLines(before: string, at: number, old: string, replacement: string): string {
  const start = before.lastIndexOf('\n', at - 1) + 1;
  const end = findEndOfLine(before, at + old.length);
  const [head, tail] = [before.slice(start, at), before.slice(at + old.length, end)];
  const line = before.slice(0, start).split('\n').length;
  return [
    `@@ line ${line}`,
    ...prefixLines('-', before.slice(start, end)),
    ...prefixLines('+', `${head}${replacement}${tail}`),
  ].join('\n');
}

function findEndOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function prefixLines(sign: '-' | '+', text: string): string[] {
  const lines = text.split('\n').map((line) => `${sign}${line}`);
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `${sign}[cut: ${MAX_LINES} of ${lines.length} lines]`];
}
