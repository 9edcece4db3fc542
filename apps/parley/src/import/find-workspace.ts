import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliError } from '../cli-error.ts';

/** The files that make a folder a workspace of OpenClaw. */
const MARKS = ['AGENTS.md', 'SOUL.md'];

/**
 * The workspace that a person means: the folder itself, or the one inside a state folder such as
 * `~/.openclaw`. Throws CliError `import-folder`.
 */
export function findWorkspace(path: string): string {
  const folder = resolve(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new CliError('import-folder', `There is no folder ${folder}. Check the path.`);
  }
  for (const candidate of [folder, join(folder, 'workspace')]) {
    if (MARKS.some((mark) => existsSync(join(candidate, mark)))) return candidate;
  }
  throw new CliError(
    'import-folder',
    `${folder} is no workspace of OpenClaw: it holds neither ${MARKS.join(' nor ')}. By default the workspace is ~/.openclaw/workspace.`,
  );
}
