import { homedir } from 'node:os';
import type { AbsentFile } from '@parley/workspace';

/**
 * The path of a workspace file as a view takes it: models also write `./a.md`, or begin it with the
 * workspace as the prompt shows it, which for guests is its name alone. What lies elsewhere stays as it is, and the view refuses it.
 */
export function workspacePath(path: string, workspace: string, home: string = homedir()): string {
  const full = path.startsWith('~/') ? `${home}${path.slice(1)}` : path;
  if (full.startsWith(`${workspace}/`)) return full.slice(workspace.length + 1);
  // As it was written: an error that repeats it must not say where the home folder is.
  return path.replace(/^(\.\/)+/, '');
}

/** The same for a folder, with a slash at its end; empty for the workspace itself. */
export function folderPath(folder: string, workspace: string): string {
  const name = folder.replace(/\/+$/, '');
  if (name === '' || name === '.' || name === workspace) return '';
  return `${workspacePath(name, workspace)}/`;
}

/** Says to the model why there is nothing; of files for others no more than of files that are not there. */
export function absentWords(path: string, { reason, detail }: AbsentFile): string {
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
      return `${path} cannot be read: ${detail ?? 'it is no text'}.`;
  }
}

/** For views: the whole file, which the workspace itself keeps within bounds. */
export const WHOLE_FILE: number = Number.MAX_SAFE_INTEGER;

/** What the model is told of a parameter that is a file. */
export const PATH_HINT = 'Path inside the workspace, such as notes/today.md.';
