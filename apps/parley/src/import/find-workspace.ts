import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliError } from '../cli-error.ts';

/** The files that make a folder a workspace of OpenClaw. */
const MARKS = ['AGENTS.md', 'SOUL.md'];

/** A workspace of OpenClaw, and what lies beside it where a whole state folder was named. */
export interface FoundWorkspace {
  readonly folder: string;
  readonly beside: readonly string[];
}

/**
 * The workspace that a person means: the folder itself, or the one inside a state folder such as
 * `~/.openclaw`. Throws CliError `import-folder`.
 */
export function findWorkspace(path: string): FoundWorkspace {
  const folder = resolve(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new CliError('import-folder', `There is no folder ${folder}. Check the path.`);
  }
  if (isWorkspace(folder)) return { folder, beside: [] };
  const inside = join(folder, 'workspace');
  if (isWorkspace(inside)) {
    const beside = readdirSync(folder).filter((name) => name !== 'workspace');
    return { folder: inside, beside: beside.sort() };
  }
  throw new CliError(
    'import-folder',
    `${folder} is no workspace of OpenClaw: it holds neither ${MARKS.join(' nor ')}. By default the workspace is ~/.openclaw/workspace.`,
  );
}

function isWorkspace(folder: string): boolean {
  return MARKS.some((mark) => existsSync(join(folder, mark)));
}
