import { homedir } from 'node:os';
import type { AbsentFile } from '@parley/workspace';
import { z } from 'zod';
import { createFailedOutcome, defineTool, type Tool } from './tool.ts';

export const PATH_HINT = 'Such as notes/today.md.';

/** Reads the whole file, whose length the workspace limits. */
export const WHOLE_FILE: number = Number.MAX_SAFE_INTEGER;

const MAX_CHARACTERS = 16_000;

export const readTool: Tool = defineTool({
  name: 'read',
  summary: 'Reads a text file in the workspace.',
  hint: 'Read a file before you describe or change it. Long files come in parts: continue with `offset`.',
  tier: 'filesystem',
  effect: 'read',
  audience: 'everyone',
  approval: 'never',
  input: z.object({
    path: z.string().min(1).describe(PATH_HINT),
    offset: z.int().min(1).optional().describe('First line, from 1.'),
    limit: z.int().min(1).optional().describe('Number of lines.'),
  }),
  async run({ path, offset = 1, limit }, { view, facts }) {
    const name = toWorkspacePath(path, facts.workspace);
    const file = await view.read(name, WHOLE_FILE);
    if (file.kind === 'absent') return createFailedOutcome(explainMissingFile(name, file));
    const lines = file.text.split('\n');
    if (offset > lines.length) {
      return createFailedOutcome(`${name} has ${lines.length} lines; there is no line ${offset}.`);
    }
    const piece = formatLineRange(name, lines, offset, limit ?? lines.length);
    return { text: file.warning === undefined ? piece : `${piece}\n\n[${name}: ${file.warning}]` };
  },
});

function formatLineRange(
  name: string,
  lines: readonly string[],
  offset: number,
  limit: number,
): string {
  const wanted = lines.slice(offset - 1, offset - 1 + limit);
  let characters = 0;
  const tooMany = wanted.findIndex((line) => {
    characters += line.length + 1;
    return characters > MAX_CHARACTERS;
  });
  if (tooMany === 0) return truncateLine(name, wanted[0] ?? '', offset, lines.length);
  const shown = tooMany === -1 ? wanted : wanted.slice(0, tooMany);
  const last = offset - 1 + shown.length;
  if (shown.length === lines.length) return shown.join('\n');
  const more = last < lines.length ? ` Read on with offset ${last + 1}.` : '';
  return `${shown.join('\n')}\n\n[Cut: lines ${offset} to ${last} of ${lines.length} of ${name} are shown.${more}]`;
}

function truncateLine(name: string, line: string, at: number, of: number): string {
  const start = line.slice(0, MAX_CHARACTERS).toWellFormed();
  return `${start}\n\n[Cut: the first ${MAX_CHARACTERS} of ${line.length} characters of line ${at} of ${of} of ${name} are shown.]`;
}

const MAX_ENTRIES = 300;

export const listTool: Tool = defineTool({
  name: 'list',
  summary: 'Lists the Markdown files in the workspace with their length in characters.',
  tier: 'filesystem',
  effect: 'read',
  audience: 'everyone',
  approval: 'never',
  input: z.object({
    folder: z.string().optional(),
  }),
  async run({ folder = '' }, { view, facts }) {
    const inside = toFolderPath(folder, facts.workspace);
    const entries = (await view.list()).filter(({ name }) => name.startsWith(inside));
    if (entries.length === 0) {
      return { text: inside === '' ? 'There are no files.' : `There are no files in ${inside}` };
    }
    const lines = entries
      .slice(0, MAX_ENTRIES)
      .map(({ name, characters }) => `${name} (${characters})`);
    const cut = `[Cut: ${MAX_ENTRIES} of ${entries.length} files are shown. Name a folder.]`;
    return { text: [...lines, ...(entries.length > MAX_ENTRIES ? [cut] : [])].join('\n') };
  },
});

const MAX_HITS = 50;
const LINE_LENGTH = 200;

/**
 * Finds words in the files that this reader may see. The tool accepts plain text only, because a
 * bad regular expression from a model could block every chat.
 */
export const grepTool: Tool = defineTool({
  name: 'grep',
  summary: 'Finds lines that contain a text in the workspace’s Markdown files.',
  hint: 'Literal text, ignoring case; no regular expressions. If nothing is found, try a shorter word.',
  tier: 'filesystem',
  effect: 'read',
  audience: 'everyone',
  approval: 'never',
  input: z.object({
    text: z.string().min(1).max(200),
    folder: z.string().optional(),
  }),
  async run({ text, folder = '' }, { view, facts, signal }) {
    const wanted = text.toLowerCase();
    const inside = toFolderPath(folder, facts.workspace);
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
        if (hits.length < MAX_HITS)
          hits.push(`${name}:${index + 1}: ${extractExcerpt(line, wanted)}`);
      }
    }
    if (found === 0) return { text: 'Nothing was found.' };
    const cut = `[Cut: the first ${MAX_HITS} of ${found} lines are shown.]`;
    return { text: [...hits, ...(found > MAX_HITS ? [cut] : [])].join('\n') };
  },
});

/** Shortens a long line to the part around the match. */
function extractExcerpt(line: string, wanted: string): string {
  if (line.length <= LINE_LENGTH) return line.trim();
  const at = line.toLowerCase().indexOf(wanted);
  const start = Math.max(0, at - LINE_LENGTH / 4);
  return `…${line
    .slice(start, start + LINE_LENGTH)
    .toWellFormed()
    .trim()}…`;
}

/**
 * Converts a path to the form that a view accepts. Models also write `./a.md`, or start with the
 * workspace folder from the prompt, which for guests is only its name. A path outside the workspace
 * is returned unchanged, and the view refuses it.
 */
export function toWorkspacePath(path: string, workspace: string, home: string = homedir()): string {
  const full = path.startsWith('~/') ? `${home}${path.slice(1)}` : path;
  if (full.startsWith(`${workspace}/`)) return full.slice(workspace.length + 1);
  // The path is returned as written, because an error that repeats it must not reveal the home
  // folder.
  return path.replace(/^(\.\/)+/, '');
}

/** Converts a folder path, with a trailing slash; empty for the workspace itself. */
function toFolderPath(folder: string, workspace: string): string {
  const name = folder.replace(/\/+$/, '');
  if (name === '' || name === '.' || name === workspace) return '';
  return `${toWorkspacePath(name, workspace)}/`;
}

/** Explains why a file cannot be read. A private file is reported as missing. */
export function explainMissingFile(path: string, { reason, detail }: AbsentFile): string {
  switch (reason) {
    case 'missing':
    case 'private':
      return `There is no file ${path} here. \`list\` says which there are.`;
    case 'empty':
      return `The file ${path} is empty.`;
    case 'refused':
      return `${path} cannot be read: ${detail ?? 'it is not inside the workspace'}. Write paths as \`list\` gives them, such as notes/today.md.`;
    case 'too-large':
    case 'unreadable':
      return `${path} cannot be read: ${detail ?? 'it is not text'}.`;
  }
}
