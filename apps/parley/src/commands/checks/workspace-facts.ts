import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  decodeFileText,
  describeEncodingDoubt,
  isGroupFile,
  isMemoryFile,
  readFileInside,
  type SurveyedEntry,
  surveyFolder,
} from '@parley/workspace';

export interface OpenFile {
  readonly name: string;
  readonly text: string;
}

export type WorkspaceFacts = Awaited<ReturnType<typeof collectWorkspaceFacts>>;

/** The maximum size in bytes of a file that is read. */
const LARGEST = 256_000;
const MAX_NOTES = 1_000;

export async function collectWorkspaceFacts(folder: string, now: number) {
  const survey = await surveyFolder(folder, () => now).catch(() => null);
  const openFiles: OpenFile[] = [];
  const memory: string[] = [];
  const symlinks: string[] = [];
  const hardlinks: string[] = [];
  const encodings: string[] = [];
  let read = 0;
  for (const entry of survey?.entries ?? []) {
    const stat = await lstat(join(folder, entry.name)).catch(() => null);
    if (stat?.isSymbolicLink()) symlinks.push(entry.name);
    const hasTwin = stat?.isFile() === true && stat.nlink > 1;
    if (hasTwin) hardlinks.push(entry.name);
    const doubt = describeEncodingDoubt(entry);
    if (doubt !== null) encodings.push(`${entry.name}: ${doubt}`);
    const place = classifyEntry(entry);
    // A file with several hard links may be MEMORY.md under another name, so it counts as visible
    // only to owners.
    const isPrivate = place === 'private' || (place === 'open' && hasTwin);
    if (isPrivate || entry.bytes > LARGEST || read >= MAX_NOTES) continue;
    read += 1;
    const text = await readText(survey?.folder ?? folder, entry.name);
    if (place === 'memory') memory.push(text);
    else openFiles.push({ name: entry.name, text });
  }
  const isCut = (survey?.isCut ?? false) || read >= MAX_NOTES;
  return {
    isThere: survey !== null,
    openFiles,
    /** The contents of MEMORY.md and memory/. */
    memory,
    symlinks,
    hardlinks,
    /** The files whose encoding was uncertain. */
    encodings,
    /** Whether the workspace contains more text than was read. */
    isCut,
  };
}

/** Each file in groups/ is visible in only one conversation. */
function classifyEntry({ name, content }: SurveyedEntry): 'memory' | 'open' | 'private' {
  if (isMemoryFile(name)) return 'memory';
  if (isGroupFile(name)) return 'private';
  if (content.kind === 'markdown') return content.audience === 'everyone' ? 'open' : 'private';
  return content.kind === 'other' ? 'open' : 'private';
}

async function readText(folder: string, name: string): Promise<string> {
  try {
    const read = decodeFileText(await readFileInside(folder, name.split('/')));
    return read.kind === 'text' ? read.text : '';
  } catch {
    return '';
  }
}
