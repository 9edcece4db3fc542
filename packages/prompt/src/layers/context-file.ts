import type { WorkspaceFile } from '@parley/workspace';
import { type Absent, absent } from '../layer.ts';
import type { PromptContext, PromptMode } from '../prompt-context.ts';

/** What Parley makes of a file of the workspace. */
interface FileUse {
  /** What the file is for, told to the model. */
  readonly purpose: string;
  /** The prompt modes it is in (P07). */
  readonly modes: readonly PromptMode[];
  /** Why the file has no place in this turn; null where it has. Without it the file always has one. */
  readonly misplaced?: (context: PromptContext) => string | null;
}

const USES: Readonly<Record<string, FileUse>> = {
  'AGENTS.md': {
    purpose: 'how you work here; follow it unless Safety says otherwise.',
    modes: ['full', 'minimal'],
  },
  'SOUL.md': {
    purpose: 'your character and tone; let it colour what you say, without mentioning it.',
    modes: ['full'],
  },
  'USER.md': {
    purpose: 'who your owner is and how they like to be helped.',
    modes: ['full'],
  },
  'IDENTITY.md': {
    purpose: 'what you are called and how you appear.',
    modes: ['full'],
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
    misplaced: ({ boot }) => (boot === true ? null : 'not the turn after a start'),
  },
};

/** What a file is for, in words for the model; empty for a file Parley knows nothing of. */
export function purposeOf(file: string): string {
  return USES[file]?.purpose ?? '';
}

/** The prompt modes in which a file may be; unknown files are for `full` alone. */
export function modesOf(file: string): readonly PromptMode[] {
  return USES[file]?.modes ?? ['full'];
}

/**
 * A file of the workspace as this turn sees it, cut at `limit` characters (the workspace's own limit
 * where not given), or why it is not there.
 */
export async function readContextFile(
  context: PromptContext,
  file: string,
  limit?: number,
): Promise<WorkspaceFile | Absent> {
  const { misplaced } = USES[file] ?? {};
  const { mode = 'full', skipContextFiles = false } = context;
  if (!modesOf(file).includes(mode)) return absent(`${file}: left out in ${mode} mode`);
  const why = misplaced?.(context) ?? null;
  if (why !== null) return absent(`${file}: ${why}`);
  // A file with a moment of its own is a task, not context.
  if (skipContextFiles && misplaced === undefined) return absent(`${file}: skipContextFiles is on`);
  const found = await context.view.read(file, limit);
  if (found.kind === 'file') return found;
  const detail = found.detail === undefined ? '' : ` (${found.detail})`;
  return absent(`${file}: ${found.reason}${detail}`);
}
