import { type Dirent, lstatSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, reasonOf } from '@parley/core';
import { SKILL_FILE } from '../audience.ts';
import { decodeFileText } from '../file-text.ts';
import {
  describeDiskError,
  type FoundFile,
  getFileIdentity,
  openWorkspaceFile,
  parseFileName,
  SETTLED_MS,
  walkPath,
} from '../paths.ts';
import { type FilePattern, toWorkspacePatterns } from '../prompt-files.ts';
import { type ParsedSkill, parseSkill, type RefusedSkill } from './skill-file.ts';

/**
 * The source of a skill, from the weakest to the strongest; if two skills have the same name, the
 * stronger source wins (S02).
 */
export type SkillSource = 'extra' | 'bundled' | 'managed' | 'personal' | 'project' | 'workspace';

/** A folder that may contain skills. */
export interface SkillFolder {
  readonly source: SkillSource;
  /** The folder itself may be a symbolic link, and need not exist. */
  readonly root: string;
  /** The path of the skills inside the folder; its segments must not be links. */
  readonly within: readonly string[];
}

/** An installation's skill folders, as absolute paths. */
export interface SkillLocations {
  /** Folders from the settings and plugins; later ones take precedence. */
  readonly extra: readonly string[];
  /** The folder of the bundled skills. */
  readonly bundled: string;
  /** The data folder. */
  readonly data: string;
  readonly home: string;
  /** The folder in which Parley was started. */
  readonly project: string;
  readonly workspace: string;
}

/** Lists the six sources, from the weakest to the strongest (S02). */
export function listSkillFolders(places: SkillLocations): readonly SkillFolder[] {
  const agents = ['.agents', 'skills'];
  return [
    ...places.extra.map((root): SkillFolder => ({ source: 'extra', root, within: [] })),
    { source: 'bundled', root: places.bundled, within: [] },
    { source: 'managed', root: join(places.data, 'skills'), within: [] },
    { source: 'personal', root: join(places.home, ...agents), within: [] },
    { source: 'project', root: join(places.project, ...agents), within: [] },
    { source: 'workspace', root: places.workspace, within: ['skills'] },
  ];
}

/**
 * Lists the workspace files that contain skills: `skills/`, the folders of other sources inside the
 * workspace, and SKILL.md anywhere, because a source may also enclose the workspace.
 */
export function listSkillFiles(folders: readonly SkillFolder[]): readonly FilePattern[] {
  const workspace = folders.find(({ source }) => source === 'workspace');
  const paths = folders.map(({ root, within }) => `${join(root, ...within)}/`);
  return [
    ...(workspace === undefined ? [] : toWorkspacePatterns(workspace.root, paths)),
    'SKILL.md',
  ];
}

/** A folder that contains a valid or invalid skill, as found on disk. */
export interface FoundSkill {
  readonly source: SkillSource;
  /** The real path of the source's folder, and the path from there to the skill. */
  readonly root: string;
  readonly segments: readonly string[];
  readonly content: ParsedSkill | RefusedSkill;
}

/** Parsed headers by path, valid until their files change. */
export type HeaderCache = Map<
  string,
  { readonly fingerprint: string; readonly content: ParsedSkill | RefusedSkill }
>;

interface ScanOptions {
  /** SKILL.md files larger than this are skipped. */
  readonly maxBytes: number;
  readonly cache: HeaderCache;
  readonly clock: Clock;
}

/** The maximum number of folders scanned per source; others are only counted. */
const MAX_FOLDERS = 2_000;
/** The number of files read concurrently. */
const AT_ONCE = 16;

/** Scans the skills in one source by folder name, including refused ones; never throws. */
export async function scanFolder(
  folder: SkillFolder,
  options: ScanOptions,
): Promise<readonly FoundSkill[]> {
  const { source, within } = folder;
  const refusal = (root: string, segments: readonly string[], reason: string): FoundSkill => ({
    source,
    root,
    segments,
    content: { kind: 'refused', reason },
  });
  let root = folder.root;
  let entries: readonly Dirent[];
  try {
    root = await realpath(folder.root);
    if (within.some((_, index) => isLink(join(root, ...within.slice(0, index + 1))))) {
      return [refusal(root, within, 'a symbolic link is not followed')];
    }
    entries = await readdir(join(root, ...within), { withFileTypes: true });
  } catch (error) {
    if (isAbsentPath(error)) return [];
    return [refusal(root, within, `this folder cannot be read (${reasonOf(error)})`)];
  }
  const candidates = entries
    .filter((entry) => !entry.name.startsWith('.'))
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const found: FoundSkill[] = [];
  for (let start = 0; start < Math.min(candidates.length, MAX_FOLDERS); start += AT_ONCE) {
    const some = candidates.slice(start, Math.min(start + AT_ONCE, MAX_FOLDERS));
    const read = await Promise.all(some.map((entry) => scanEntry(root, within, entry, options)));
    for (const [index, content] of read.entries()) {
      const name = some[index]?.name ?? '';
      if (content !== null) found.push({ source, root, segments: [...within, name], content });
    }
  }
  const more = candidates.length - MAX_FOLDERS;
  if (more > 0) found.push(refusal(root, within, `${more} more folders here are not scanned`));
  return found;
}

/** Scans one folder, or link, in a source; null if it has no SKILL.md. */
async function scanEntry(
  root: string,
  within: readonly string[],
  entry: Dirent,
  options: ScanOptions,
): Promise<ParsedSkill | RefusedSkill | null> {
  const segments = [...within, entry.name, SKILL_FILE];
  const checked = checkFile(root, segments, options.maxBytes);
  if (checked.kind !== 'file') return toRefusedSkill(checked);
  if (parseFileName(entry.name) === null) {
    return { kind: 'refused', reason: 'the folder name is not a plain name' };
  }
  return readSkillHeader(root, segments, checked.file, options);
}

async function readSkillHeader(
  root: string,
  segments: readonly string[],
  found: FoundFile,
  { cache, clock, maxBytes }: ScanOptions,
): Promise<ParsedSkill | RefusedSkill | null> {
  const path = join(root, ...segments);
  const known = cache.get(path);
  const { fingerprint } = found;
  if (known?.fingerprint === fingerprint) return known.content;
  const file = await readSkillFile(root, segments, found, maxBytes);
  cache.delete(path);
  if (file.kind !== 'text') return toRefusedSkill(file);
  const { content } = parseSkill(file.text, segments.at(-2) ?? '');
  if (clock() - found.changedAt > SETTLED_MS) cache.set(path, { fingerprint, content });
  return content;
}

function toRefusedSkill(fault: UnreadableSkillFile): RefusedSkill | null {
  return fault.kind === 'missing' ? null : fault;
}

function isAbsentPath(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ENOENT' || error.code === 'ENOTDIR';
}

/** Why a skill does not have a file that can be read, for people. */
export type UnreadableSkillFile =
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly reason: string };

/** Checks a skill's file without opening it or following a link; never throws. */
export function checkFile(
  root: string,
  segments: readonly string[],
  maxBytes: number,
): { readonly kind: 'file'; readonly file: FoundFile } | UnreadableSkillFile {
  try {
    const walked = walkPath(root, { segments });
    if (walked.kind === 'missing') return walked;
    if (walked.kind === 'link') return refuseSkillFile('a symbolic link is not followed');
    if (walked.kind === 'not-a-file') return refuseSkillFile('not a regular file');
    if (walked.file.hasTwin) return refuseSkillFile('it has a second name (a hard link)');
    return walked.file.bytes > maxBytes
      ? createTooLargeSkillFile(walked.file.bytes, maxBytes)
      : walked;
  } catch (error) {
    return refuseSkillFile(`it cannot be read (${describeDiskError(error)})`);
  }
}

/** Reads a file that was checked, unless it has since been replaced; never throws. */
export async function readSkillFile(
  root: string,
  segments: readonly string[],
  found: FoundFile,
  maxBytes: number,
): Promise<{ readonly kind: 'text'; readonly text: string } | UnreadableSkillFile> {
  try {
    await using handle = await openWorkspaceFile(root, segments);
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile() || getFileIdentity(stats) !== found.identity) {
      return refuseSkillFile('it changed while it was read');
    }
    const bytes = await handle.readFile();
    if (bytes.length > maxBytes) return createTooLargeSkillFile(bytes.length, maxBytes);
    const read = decodeFileText(bytes);
    return read.kind === 'text' ? read : refuseSkillFile(read.detail);
  } catch (error) {
    return refuseSkillFile(`it cannot be read (${describeDiskError(error)})`);
  }
}

/** Whether any segment on the path to a folder is a symbolic link; throws file system errors. */
function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function refuseSkillFile(reason: string): UnreadableSkillFile {
  return { kind: 'refused', reason };
}

function createTooLargeSkillFile(bytes: number, maxBytes: number): UnreadableSkillFile {
  return refuseSkillFile(`it has ${bytes} bytes, but at most ${maxBytes} are read`);
}
