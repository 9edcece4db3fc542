import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JournalledWrite } from '@parley/store';
import { readInside, type SurveyedEntry, surveyFolder } from '@parley/workspace';

/** A file that everybody's turns can read. */
export interface OpenFile {
  /** Path inside the workspace. */
  readonly name: string;
  readonly text: string;
}

/** What the audit knows of the workspace. */
export interface WorkspaceFacts {
  readonly openFiles: readonly OpenFile[];
  /** The texts of MEMORY.md and memory/. */
  readonly memory: readonly string[];
  readonly symlinks: readonly string[];
  readonly hardlinks: readonly string[];
  /** Changes that an agent made to files that become prompt text, newest first. */
  readonly promptWrites: readonly (Omit<JournalledWrite, 'input'> & { readonly path: string })[];
  /** There is more than was read. */
  readonly isCut: boolean;
}

/** Notes are small; what is larger is no note and is not read here. In bytes. */
const LARGEST = 256_000;
const MOST_FILES = 1_000;

/** Reads the workspace; a folder that is not there has nothing. */
export async function gatherWorkspace(
  folder: string,
  { promptWrites, now }: { readonly now: number } & Pick<WorkspaceFacts, 'promptWrites'>,
): Promise<WorkspaceFacts> {
  const survey = await surveyFolder(folder, () => now).catch(() => null);
  const entries = survey?.entries ?? [];
  const openFiles: OpenFile[] = [];
  const memory: string[] = [];
  const symlinks: string[] = [];
  const hardlinks: string[] = [];
  let read = 0;
  for (const entry of entries) {
    const stat = await lstat(join(folder, entry.name)).catch(() => null);
    if (stat?.isSymbolicLink()) symlinks.push(entry.name);
    const hasTwin = stat?.isFile() === true && stat.nlink > 1;
    if (hasTwin) hardlinks.push(entry.name);
    const place = placeOf(entry);
    // Such a file may be MEMORY.md by another name, so only owners are shown it.
    const isPrivate = place === 'private' || (place === 'open' && hasTwin);
    if (isPrivate || entry.bytes > LARGEST || read >= MOST_FILES) continue;
    read += 1;
    const text = await textOf(survey?.folder ?? folder, entry.name);
    if (place === 'memory') memory.push(text);
    else openFiles.push({ name: entry.name, text });
  }
  const isCut = (survey?.isCut ?? false) || read >= MOST_FILES;
  return { openFiles, memory, symlinks, hardlinks, promptWrites, isCut };
}

/** Files of groups/ are shown to one conversation each, and to nobody else. */
function placeOf({ name, content }: SurveyedEntry): 'memory' | 'open' | 'private' {
  if (/^(memory\/.*|memory\.md)$/i.test(name)) return 'memory';
  if (/^groups\//i.test(name)) return 'private';
  if (content.kind === 'markdown') return content.audience === 'everyone' ? 'open' : 'private';
  return content.kind === 'other' ? 'open' : 'private';
}

/** Empty for what is no text, or went away meanwhile. */
async function textOf(folder: string, name: string): Promise<string> {
  try {
    const bytes = await readInside(folder, name.split('/'));
    return bytes.includes(0) ? '' : new TextDecoder().decode(bytes);
  } catch {
    return '';
  }
}
