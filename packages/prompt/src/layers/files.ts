import { basename } from 'node:path';
import type { TextTruncation, WorkspaceFile } from '@parley/workspace';
import {
  type Absent,
  createAbsent,
  createPublicPart,
  isIncludedInMode,
  type Layer,
  type LayerId,
  type LayerOptions,
  type PromptContext,
  type PromptMode,
  type Volatility,
} from '../layer.ts';
import { findNarrowestAudience } from '../text.ts';

/** How a workspace file is used. */
interface FileUsage {
  /** The purpose of the file, shown to the model. */
  readonly purpose: string;
  /** The prompt modes that include the file (P07). */
  readonly modes: readonly PromptMode[];
  /**
   * Returns why the file is omitted in this turn, or null when it is included. When absent, the
   * file is always included.
   */
  readonly misplaced?: (context: PromptContext) => string | null;
}

const USES: Readonly<Record<string, FileUsage>> = {
  'AGENTS.md': {
    purpose: 'how you work here; follow it unless Safety says otherwise.',
    modes: ['full', 'minimal'],
  },
  'SOUL.md': {
    purpose: 'your character and tone; let it colour what you say, without mentioning it.',
    modes: ['full', 'light'],
  },
  'USER.md': {
    purpose: 'who your owner is and how they like to be helped.',
    modes: ['full', 'light'],
  },
  'IDENTITY.md': {
    purpose: 'what you are called and how you appear.',
    modes: ['full', 'light'],
  },
  'TOOLS.md': {
    purpose: 'notes on using your tools here; it gives you none that you do not have.',
    modes: ['full', 'minimal'],
  },
  'MEMORY.md': {
    purpose: 'what you chose to keep for the long run. It is between you and your owner.',
    modes: ['full'],
  },
  'HEARTBEAT.md': {
    purpose: 'your standing tasks.',
    modes: ['full', 'minimal'],
    misplaced: ({ facts }) => (facts.heartbeat ? null : 'not a heartbeat turn'),
  },
  'BOOTSTRAP.md': {
    purpose: 'this workspace is new. Let this lead the conversation until it is done.',
    modes: ['full'],
    misplaced: ({ bootstrap }) => (bootstrap === true ? null : 'the workspace is not new'),
  },
  'BOOT.md': {
    purpose: 'Parley has just started. Do what this asks, once.',
    modes: ['full', 'minimal'],
    misplaced: ({ boot }) => (boot === true ? null : 'not the first turn after a start'),
  },
};

/** The prompt modes that may include a file; only `full` for unknown files. */
function getFileModes(file: string): readonly PromptMode[] {
  return USES[file]?.modes ?? ['full'];
}

/**
 * A workspace file as seen in this turn, truncated at `limit` characters (by default the
 * workspace's own limit), or the reason why it is absent.
 */
export async function readContextFile(
  context: PromptContext,
  file: string,
  limit?: number,
): Promise<WorkspaceFile | Absent> {
  const { misplaced } = USES[file] ?? {};
  const { mode = 'full', skipContextFiles = false } = context;
  if (!isIncludedInMode(getFileModes(file), mode))
    return createAbsent(`${file}: omitted in ${mode} mode`);
  const why = misplaced?.(context) ?? null;
  if (why !== null) return createAbsent(`${file}: ${why}`);
  // A file for a specific occasion is a task, not context.
  if (skipContextFiles && misplaced === undefined)
    return createAbsent(`${file}: skipContextFiles is on`);
  const found = await context.view.read(file, limit);
  if (found.kind === 'file') return found;
  if (found.reason === 'unreadable') return createUnreadableFileNote(context, file, found.detail);
  const detail = found.detail === undefined ? '' : ` (${found.detail})`;
  return createAbsent(`${file}: ${found.reason}${detail}`);
}

/**
 * The note that replaces an unreadable file (W10). Without the note, the model would act as if the
 * owner's file were empty.
 */
function createUnreadableFileNote(
  { reader }: PromptContext,
  file: string,
  detail = 'the disk refuses it',
): WorkspaceFile {
  const text = `[${file} is there and cannot be read: ${detail}. If a person relies on what it says, tell them so.]`;
  const audience = findNarrowestAudience([], reader);
  return { kind: 'file', text, source: file, audience, characters: text.length, cut: null };
}

interface WorkspaceFileLayer {
  readonly id: LayerId;
  readonly file: string;
  readonly volatility: Volatility;
}

/** A layer that shows one workspace file, with its name as the heading and its purpose below. */
export function createWorkspaceFileLayer({ id, file, volatility }: WorkspaceFileLayer): Layer {
  return {
    id,
    volatility,
    placement: 'system',
    modes: getFileModes(file),
    reads: [file],
    async render(context, { heading = `## ${file}`, characters, purpose, lead }) {
      const found = await readContextFile(context, file, characters);
      const house = lead === undefined ? null : `${heading}\n${lead}`;
      if ('absent' in found) return house === null ? found : createPublicPart(house);
      const above = house === null ? heading : `${house}\n\n## ${file}`;
      return { ...found, text: `${above}\n${addFilePurpose(file, found, purpose)}` };
    },
  };
}

/**
 * The content of a file, below a description of its purpose. Parley does not state a purpose for
 * unknown files.
 */
export function addFilePurpose(
  file: string,
  { text, warning }: WorkspaceFile,
  purpose = USES[file]?.purpose,
): string {
  const doubt = warning === undefined ? '' : `\n\n[About ${file}: ${warning}]`;
  const heading = purpose === undefined ? '' : `Purpose: ${purpose}\n\n`;
  return `${heading}${insertToolListPointer(text)}${doubt}`;
}

/**
 * Several workspace files in one section, each with its own limit, and a limit for all of them
 * (P04, P07).
 */
const workspaceContextLayer: Layer = {
  id: 'workspace-context',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  async render(context, options) {
    const { heading = '# Workspace Context', files = [], purpose } = options;
    const { found, missing } = await readFilesWithinLimit(context, files, options);
    if (found.length === 0) return createAbsent(missing.join('; ') || 'the layout names no files');
    const note = purpose === undefined ? '' : `\n\n${purpose}`;
    const root = `Workspace root: ${formatWorkspacePath(context)}${note}`;
    const sections = found.map((file) => `## ${file.source}\n${addFilePurpose(file.source, file)}`);
    const text = [`${heading}\n${root}`, ...sections].join('\n\n');
    const source = found.map((file) => file.source).join(', ');
    return {
      text,
      source,
      audience: findNarrowestAudience(found, context.reader),
      cut: sumTruncations(found),
    };
  },
};

/**
 * Reads all files first and truncates them afterwards, when the space used by the others is known.
 */
async function readFilesWithinLimit(
  context: PromptContext,
  files: readonly string[],
  { characters, charactersInAll = Number.POSITIVE_INFINITY }: LayerOptions,
): Promise<{ found: readonly WorkspaceFile[]; missing: readonly string[] }> {
  const read = await Promise.all(files.map((file) => readContextFile(context, file, characters)));
  const found: WorkspaceFile[] = [];
  let room = charactersInAll;
  for (const file of read) {
    if ('absent' in file) continue;
    const fits = countFileCharacters(file) <= room;
    const fitted = fits ? file : await readContextFile(context, file.source, Math.max(0, room));
    if ('absent' in fitted) continue;
    room -= countFileCharacters(fitted);
    found.push(fitted);
  }
  return { found, missing: read.flatMap((file) => ('absent' in file ? [file.absent] : [])) };
}

/** The number of characters from the file itself, without the truncation note. */
function countFileCharacters({ text, cut }: WorkspaceFile): number {
  return cut?.shown ?? text.length;
}

function sumTruncations(files: readonly WorkspaceFile[]): TextTruncation | null {
  if (files.every(({ cut }) => cut === null)) return null;
  const sum = (of: (file: WorkspaceFile) => number): number =>
    files.reduce((total, file) => total + of(file), 0);
  return {
    shown: sum(countFileCharacters),
    total: sum((file) => file.cut?.total ?? file.text.length),
  };
}

const RANKED_FILES = ['AGENTS.md', 'USER.md', 'SOUL.md', 'IDENTITY.md'];
const ORDER = ['Safety', ...RANKED_FILES].join(' > ');

/** A rule for which file takes precedence when two contradict each other (P08). */
const conflictOrderLayer: Layer = {
  id: 'conflict-order',
  volatility: 'static',
  placement: 'system',
  modes: ['full', 'minimal'],
  reads: RANKED_FILES,
  async render(context, { heading = '## Conflict Order' }) {
    for (const file of RANKED_FILES) {
      const found = await readContextFile(context, file);
      if ('absent' in found) continue;
      const text = `${heading}\nWhere two of these disagree, the earlier one counts: ${ORDER}`;
      return createPublicPart(text);
    }
    return createAbsent('there are no files to rank');
  },
};

/** The agent's persona (P14); without one, the file that the layout names instead. */
const personaLayer: Layer = {
  id: 'persona',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'light'],
  async render(context, { heading = '## Persona', files: [file] = [], characters }) {
    const { persona } = context;
    if (persona !== undefined) return { ...persona, text: `${heading}\n${persona.text}` };
    if (file === undefined) return createAbsent('no persona was chosen');
    const found = await readContextFile(context, file, characters);
    return 'absent' in found ? found : { ...found, text: `${heading}\n${found.text}` };
  },
};

/** The placeholder for the generated list in TOOLS.md (P06). */
const PLACEHOLDER = '{tools_description}';

/** Inserts the list at its placeholder in the notes, or before notes without a placeholder. */
export function insertToolList(notes: string, list: string): string {
  if (!notes.includes(PLACEHOLDER)) return `${list}\n\n${notes}`;
  // The replacement is a function, because a tool's text may contain patterns that `replace` would
  // interpret.
  return notes.replaceAll(PLACEHOLDER, () => list);
}

/** Notes for a layout with the list in a separate section. */
function insertToolListPointer(notes: string): string {
  return notes.replaceAll(PLACEHOLDER, '(The list of your tools stands above.)');
}

/**
 * The workspace path as shown in the prompt: with `~` for the operator's home folder, and only the
 * folder's name for guests.
 */
export function formatWorkspacePath({
  facts: { workspace },
  home = '',
  reader,
}: Pick<PromptContext, 'facts' | 'home' | 'reader'>): string {
  if (reader.kind !== 'owner') return basename(workspace);
  if (home === '') return workspace;
  if (workspace === home) return '~';
  return workspace.startsWith(`${home}/`) ? `~${workspace.slice(home.length)}` : workspace;
}

/** Layers that show the workspace's own files. */
export const fileLayers: readonly Layer[] = [
  createWorkspaceFileLayer({ id: 'soul-file', file: 'SOUL.md', volatility: 'static' }),
  createWorkspaceFileLayer({ id: 'identity-file', file: 'IDENTITY.md', volatility: 'static' }),
  createWorkspaceFileLayer({ id: 'agents-file', file: 'AGENTS.md', volatility: 'static' }),
  createWorkspaceFileLayer({ id: 'tools-file', file: 'TOOLS.md', volatility: 'static' }),
  createWorkspaceFileLayer({ id: 'user-file', file: 'USER.md', volatility: 'session' }),
  createWorkspaceFileLayer({ id: 'memory-file', file: 'MEMORY.md', volatility: 'session' }),
  createWorkspaceFileLayer({ id: 'bootstrap-file', file: 'BOOTSTRAP.md', volatility: 'session' }),
  createWorkspaceFileLayer({ id: 'boot-file', file: 'BOOT.md', volatility: 'turn' }),
  createWorkspaceFileLayer({ id: 'heartbeat-file', file: 'HEARTBEAT.md', volatility: 'turn' }),
  workspaceContextLayer,
  conflictOrderLayer,
  personaLayer,
];
