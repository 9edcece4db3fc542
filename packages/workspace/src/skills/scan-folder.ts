import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, reasonOf } from '@parley/contracts';
import { parseFileName } from '../file-name.ts';
import { type ParsedSkill, parseSkill, type RefusedSkill } from './parse-skill.ts';
import {
  isLink,
  lookAt,
  type NoSkillFile,
  readSkillFile,
  type SkillFile,
} from './read-skill-file.ts';
import type { SkillFolder } from './skill-folder.ts';
import type { SkillSource } from './skills.ts';

/** A skill, or what should be one, where it was found. */
export interface FoundSkill {
  readonly source: SkillSource;
  /** The real path of the source's folder, and the way from there to the skill. */
  readonly root: string;
  readonly segments: readonly string[];
  readonly content: ParsedSkill | RefusedSkill;
}

/** Headers that were read, by path, until their files change. */
export type HeaderCache = Map<
  string,
  { readonly fingerprint: string; readonly content: ParsedSkill | RefusedSkill }
>;

/** What a look at one source needs. */
export interface ScanOptions {
  /** Larger SKILL.md are skipped. */
  readonly maxBytes: number;
  readonly cache: HeaderCache;
  readonly clock: Clock;
}

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';
/** Folders of one source that are looked at; more are counted. */
const MOST_FOLDERS = 2_000;
/** Files read at a time. */
const AT_ONCE = 16;
/** Two changes within this time can leave the same stamp; such a file is read again next time. In ms. */
const SETTLED_MS = 50;

/** The skills of one source, by the names of their folders. What is wrong is among them. Never throws. */
export async function scanFolder(
  folder: SkillFolder,
  options: ScanOptions,
): Promise<readonly FoundSkill[]> {
  const { source, within } = folder;
  const told = (root: string, segments: readonly string[], reason: string): FoundSkill => ({
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
      return [told(root, within, 'a symbolic link is not followed')];
    }
    entries = await readdir(join(root, ...within), { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    return [told(root, within, `this folder cannot be read (${reasonOf(error)})`)];
  }
  const candidates = entries
    .filter((entry) => !entry.name.startsWith('.'))
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const found: FoundSkill[] = [];
  for (let start = 0; start < Math.min(candidates.length, MOST_FOLDERS); start += AT_ONCE) {
    const some = candidates.slice(start, Math.min(start + AT_ONCE, MOST_FOLDERS));
    const read = await Promise.all(some.map((entry) => scanEntry(root, within, entry, options)));
    for (const [index, content] of read.entries()) {
      const name = some[index]?.name ?? '';
      if (content !== null) found.push({ source, root, segments: [...within, name], content });
    }
  }
  const more = candidates.length - MOST_FOLDERS;
  if (more > 0) found.push(told(root, within, `${more} more folders here are not looked at`));
  return found;
}

/** One folder, or link, of a source; null where it is no skill and does not want to be. */
async function scanEntry(
  root: string,
  within: readonly string[],
  entry: Dirent,
  options: ScanOptions,
): Promise<ParsedSkill | RefusedSkill | null> {
  const segments = [...within, entry.name, SKILL_FILE];
  const looked = lookAt(root, segments, options.maxBytes);
  if (looked.kind !== 'file') return faultOf(looked);
  if (parseFileName(entry.name) === null) {
    return { kind: 'refused', reason: 'the name of its folder is no plain name' };
  }
  return readHeader(root, segments, looked, options);
}

async function readHeader(
  root: string,
  segments: readonly string[],
  looked: SkillFile,
  { cache, clock, maxBytes }: ScanOptions,
): Promise<ParsedSkill | RefusedSkill | null> {
  const path = join(root, ...segments);
  const known = cache.get(path);
  if (known?.fingerprint === looked.fingerprint) return known.content;
  const file = await readSkillFile(root, segments, looked, maxBytes);
  cache.delete(path);
  if (file.kind !== 'text') return faultOf(file);
  const { content } = parseSkill(file.text, segments.at(-2) ?? '');
  if (clock() - looked.changedAt > SETTLED_MS) {
    cache.set(path, { fingerprint: looked.fingerprint, content });
  }
  return content;
}

function faultOf(fault: NoSkillFile): RefusedSkill | null {
  return fault.kind === 'missing' ? null : fault;
}

function isMissing(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ENOENT' || error.code === 'ENOTDIR';
}
