import type { Dirent } from 'node:fs';
import { link, mkdir, open, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type NewId, reasonOf, silentLogger } from '@parley/core';
import { AudienceFrontMatter, SKILL_FILE } from './audience.ts';
import { FileCache } from './file-cache.ts';
import { decodeFileText } from './file-text.ts';
import { isMarkdown } from './folded-names.ts';
import { parseFile, readFrontMatter } from './front-matter.ts';
import { MAX_BYTES, openWorkspaceFile, parseFileName, walkPath } from './paths.ts';
import { scanFolder } from './skills/find-skills.ts';
import { createOwnerReader, type WorkspaceView } from './workspace-view.ts';
import { createFolders } from './write-file.ts';
import { restrictToOwner } from './write-rules.ts';

/** An entry in a surveyed folder, including folders that are not entered. */
export interface SurveyedEntry {
  /** The path relative to the surveyed folder. */
  readonly name: string;
  readonly bytes: number;
  readonly content:
    | {
        readonly kind: 'markdown';
        /** The audience that the entry would have in a workspace. */
        readonly audience: 'owner' | 'everyone';
        /** The audience declared in the entry's front matter, if any. */
        readonly declared?: 'owner' | 'everyone' | undefined;
        /** Why the entry would be restricted to the owner. */
        readonly problem: string | null;
        /** A doubt about the file's decoding; null if there is none. */
        readonly warning: string | null;
        readonly isBlank: boolean;
      }
    | { readonly kind: 'other' }
    | { readonly kind: 'hidden' }
    | {
        readonly kind: 'refused';
        readonly reason: string;
        /** Set if the file's bytes are not text in a known encoding. */
        readonly isNoText?: true;
      };
}

/** A folder in `skills/` that is a skill or should be one. */
export interface SurveyedSkill {
  /** The path relative to the surveyed folder. */
  readonly name: string;
  readonly content: { readonly kind: 'skill'; readonly description: string } | SurveyRefusal;
}

interface SurveyRefusal {
  readonly kind: 'refused';
  readonly reason: string;
}

/** The content of a folder that may be a workspace. */
export interface FolderSurvey {
  /** The real path of the surveyed folder. */
  readonly folder: string;
  readonly entries: readonly SurveyedEntry[];
  readonly skills: readonly SurveyedSkill[];
  /** Whether the folder has more entries than were examined. */
  readonly isCut: boolean;
}

const MAX_ENTRIES = 5_000;

/**
 * Examines a folder as if it were a workspace, without changing anything in it; links are not
 * followed. Throws file system errors for the folder itself.
 */
export async function surveyFolder(path: string, clock: Clock): Promise<FolderSurvey> {
  const folder = await realpath(path);
  const entries: SurveyedEntry[] = [];
  const folders = [''];
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const found = await readdir(join(folder, next), { withFileTypes: true });
    for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entries.length === MAX_ENTRIES) break;
      const name = next === '' ? entry.name : `${next}/${entry.name}`;
      if (entry.isDirectory() && shouldEnterFolder(name, entry)) folders.push(name);
      else entries.push(await surveyEntry(folder, name, entry));
    }
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const skills = await listSurveyedSkills(folder, clock);
  return { folder, entries, skills, isCut: entries.length === MAX_ENTRIES };
}

function shouldEnterFolder(name: string, entry: Dirent): boolean {
  return parseFileName(name) !== null && entry.name !== 'node_modules';
}

async function surveyEntry(folder: string, name: string, entry: Dirent): Promise<SurveyedEntry> {
  const entryOf = (content: SurveyedEntry['content'], bytes = 0) => ({ name, bytes, content });
  const refused = (reason: string, bytes = 0) => entryOf({ kind: 'refused', reason }, bytes);
  if (entry.name.startsWith('.') || entry.name === 'node_modules') {
    return entryOf({ kind: 'hidden' });
  }
  const path = parseFileName(name);
  if (path === null) return refused('its name cannot be used in a workspace');
  const walked = walkPath(folder, path);
  if (walked.kind === 'link') return refused('a symbolic link is not followed');
  if (walked.kind !== 'file') return refused('it is not a regular file');
  const { bytes } = walked.file;
  if (bytes > MAX_BYTES) return refused(`larger than ${MAX_BYTES / 1_000_000} MB`, bytes);
  if (!isMarkdown(name)) return entryOf({ kind: 'other' }, bytes);
  try {
    const raw = await readFileInside(folder, path.segments);
    const read = decodeFileText(raw);
    if (read.kind === 'refused') {
      return entryOf({ kind: 'refused', reason: read.detail, isNoText: true }, bytes);
    }
    const file = parseFile(name, read.text, false);
    const audience = file.audience.kind === 'owner' ? 'owner' : 'everyone';
    const { problem, isBlank, declared } = file;
    const { warning } = read;
    return entryOf({ kind: 'markdown', audience, declared, problem, warning, isBlank }, bytes);
  } catch (error) {
    return refused(`it cannot be read (${reasonOf(error)})`, bytes);
  }
}

/**
 * Creates a reader for a folder's files as their owner would see them in a workspace, without
 * changing anything in it.
 */
export async function openFolderReader(
  path: string,
  clock: Clock,
): Promise<Pick<WorkspaceView, 'read' | 'readBytes'>> {
  return createOwnerReader(
    new FileCache({ folder: await realpath(path), clock, log: silentLogger }),
  );
}

/**
 * Describes a doubt about a Markdown file's decoding, or that it was not decoded; null if there is
 * none.
 */
export function describeEncodingDoubt({ content }: SurveyedEntry): string | null {
  if (content.kind === 'markdown') return content.warning;
  return content.kind === 'refused' && content.isNoText === true ? content.reason : null;
}

/** Reads the bytes of a regular file without following a link in its place. */
export async function readFileInside(
  folder: string,
  segments: readonly string[],
): Promise<Uint8Array> {
  await using handle = await openWorkspaceFile(folder, segments);
  return await handle.readFile();
}

async function listSurveyedSkills(folder: string, clock: Clock): Promise<readonly SurveyedSkill[]> {
  const place = { source: 'workspace', root: folder, within: ['skills'] } as const;
  const options = { maxBytes: MAX_BYTES, cache: new Map(), clock };
  const found = await scanFolder(place, options);
  return found.map(({ segments, content }) => ({
    name: segments.filter((segment) => segment !== SKILL_FILE).join('/'),
    content:
      content.kind === 'skill'
        ? { kind: 'skill', description: content.description }
        : { kind: 'refused', reason: content.reason },
  }));
}

/** The result of a copy; `exists`: an entry already has this name and is kept. */
export type CopyResult =
  | { readonly kind: 'copied' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Which file is copied, and how. */
export interface CopyRequest {
  readonly from: string;
  readonly to: string;
  readonly name: string;
  /** Changes the bytes of the original for the copy. */
  readonly edit?: (bytes: Uint8Array) => Uint8Array;
}

/**
 * Copies one file from a folder into a workspace under the same name, like `writeIntoWorkspace`;
 * never throws.
 */
export async function copyIntoWorkspace(
  { from, to, name, edit = (bytes) => bytes }: CopyRequest,
  newId: NewId,
): Promise<CopyResult> {
  const path = parseFileName(name);
  if (path === null) return BAD_NAME;
  try {
    const bytes = edit(await readFileInside(from, path.segments));
    return await writeIntoWorkspace({ to, name, bytes }, newId);
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error) };
  }
}

const BAD_NAME = { kind: 'failed', reason: 'its name cannot be used in a workspace' } as const;

/**
 * Puts a new file, readable by this user only, into a workspace: atomically, and never replacing an
 * existing entry. Parent folders are created; never throws.
 */
export async function writeIntoWorkspace(
  { to, name, bytes }: Pick<CopyRequest, 'to' | 'name'> & { readonly bytes: Uint8Array },
  newId: NewId,
): Promise<CopyResult> {
  const path = parseFileName(name);
  if (path === null) return BAD_NAME;
  try {
    await mkdir(to, { recursive: true, mode: 0o700 });
    const folder = await realpath(to);
    const parents = path.segments.slice(0, -1);
    const blocked = await createFolders(folder, parents);
    if (blocked !== null) return { kind: 'failed', reason: blocked.detail };
    if (walkPath(folder, path).kind !== 'missing') return { kind: 'exists' };
    const temporary = join(folder, ...parents, `.${newId('i')}.tmp`);
    try {
      await writeNewFile(temporary, bytes);
      // Unlike a rename, a link never replaces a file created in the meantime.
      await link(temporary, join(folder, ...path.segments));
    } finally {
      await rm(temporary, { force: true });
    }
    return { kind: 'copied' };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      return { kind: 'exists' };
    }
    return { kind: 'failed', reason: reasonOf(error) };
  }
}

/**
 * Returns the bytes with `audience: owner` in their front matter, unless it already declares an
 * audience.
 */
export function addOwnerMarkToCopy(bytes: Uint8Array): Uint8Array {
  const read = decodeFileText(bytes);
  if (read.kind === 'refused') return bytes;
  const { text } = read;
  const front = readFrontMatter(text, AudienceFrontMatter);
  const isUndecided = front.kind === 'none' || (front.kind === 'parsed' && !front.data.audience);
  return isUndecided ? Buffer.from(restrictToOwner(text, 'person')) : bytes;
}

async function writeNewFile(path: string, bytes: Uint8Array): Promise<void> {
  await using handle = await open(path, 'wx', 0o600);
  await handle.writeFile(bytes);
  await handle.sync();
}
