import type { Dirent } from 'node:fs';
import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, reasonOf } from '@parley/contracts';
import { parseFileName } from '../file-name.ts';
import { parseFile } from '../parse-file.ts';
import { SKILL_FILE, scanFolder } from '../skills/scan-folder.ts';
import { walkPath } from '../walk-path.ts';

/** Something in a folder that is looked over; folders that are not entered are told of, too. */
export interface SurveyedEntry {
  /** Path inside the folder. */
  readonly name: string;
  readonly bytes: number;
  readonly content:
    | {
        readonly kind: 'markdown';
        /** Who would see it in a workspace. */
        readonly audience: 'owner' | 'everyone';
        /** What its front matter says of that, if anything. */
        readonly declared?: 'owner' | 'everyone' | undefined;
        /** Why it would be the owner's alone until somebody mends it. */
        readonly problem: string | null;
        readonly isBlank: boolean;
      }
    | { readonly kind: 'other' }
    | { readonly kind: 'hidden' }
    | { readonly kind: 'refused'; readonly reason: string };
}

/** A folder of `skills/` that is a skill or should be one. */
export interface SurveyedSkill {
  /** Path inside the folder. */
  readonly name: string;
  readonly told: { readonly kind: 'skill'; readonly description: string } | Refusal;
}

interface Refusal {
  readonly kind: 'refused';
  readonly reason: string;
}

/** What a folder holds that may be a workspace. */
export interface Survey {
  /** The real path. */
  readonly folder: string;
  readonly entries: readonly SurveyedEntry[];
  readonly skills: readonly SurveyedSkill[];
  /** There is more than was looked at. */
  readonly isCut: boolean;
}

const MAX_ENTRIES = 5_000;
/** Larger files are of no use to a workspace. Bytes. */
const MAX_BYTES = 1_000_000;

/**
 * Looks a folder over as if it were a workspace, and changes nothing in it: neither are templates
 * made, nor are links followed. Throws what the file system says of the folder itself.
 */
export async function surveyFolder(path: string, clock: Clock): Promise<Survey> {
  const folder = await realpath(path);
  const entries: SurveyedEntry[] = [];
  const folders = [''];
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    const found = await readdir(join(folder, next), { withFileTypes: true });
    for (const entry of found.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entries.length === MAX_ENTRIES) break;
      const name = next === '' ? entry.name : `${next}/${entry.name}`;
      if (entry.isDirectory() && isEntered(name, entry)) folders.push(name);
      else entries.push(await lookAt(folder, name, entry));
    }
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const skills = await skillsIn(folder, clock);
  return { folder, entries, skills, isCut: entries.length === MAX_ENTRIES };
}

function isEntered(name: string, entry: Dirent): boolean {
  return parseFileName(name) !== null && entry.name !== 'node_modules';
}

async function lookAt(folder: string, name: string, entry: Dirent): Promise<SurveyedEntry> {
  const entryOf = (content: SurveyedEntry['content'], bytes = 0) => ({ name, bytes, content });
  const refused = (reason: string, bytes = 0) => entryOf({ kind: 'refused', reason }, bytes);
  if (entry.name.startsWith('.') || entry.name === 'node_modules') {
    return entryOf({ kind: 'hidden' });
  }
  const path = parseFileName(name);
  if (path === null) return refused('its name cannot be used in a workspace');
  const walked = walkPath(folder, path);
  if (walked.kind === 'link') return refused('a symbolic link is not followed');
  if (walked.kind !== 'file') return refused('it is no regular file');
  const { bytes } = walked.file;
  if (bytes > MAX_BYTES) return refused(`larger than ${MAX_BYTES / 1_000_000} MB`, bytes);
  if (!/\.md$/i.test(name)) return entryOf({ kind: 'other' }, bytes);
  try {
    const raw = await readInside(folder, path.segments);
    if (raw.includes(0)) return refused('it is no text', bytes);
    const file = parseFile(name, new TextDecoder().decode(raw), false);
    const audience = file.audience.kind === 'owner' ? 'owner' : 'everyone';
    const { problem, isBlank, declared } = file;
    return entryOf({ kind: 'markdown', audience, declared, problem, isBlank }, bytes);
  } catch (error) {
    return refused(`it cannot be read (${reasonOf(error)})`, bytes);
  }
}

/** The bytes of a regular file, without following a link in its place. */
export async function readInside(folder: string, segments: readonly string[]): Promise<Uint8Array> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using handle = await open(join(folder, ...segments), flags);
  return await handle.readFile();
}

async function skillsIn(folder: string, clock: Clock): Promise<readonly SurveyedSkill[]> {
  const place = { source: 'workspace', root: folder, within: ['skills'] } as const;
  const options = { maxBytes: MAX_BYTES, cache: new Map(), clock };
  const found = await scanFolder(place, options);
  return found.map(({ segments, content }) => ({
    name: segments.filter((segment) => segment !== SKILL_FILE).join('/'),
    told:
      content.kind === 'skill'
        ? { kind: 'skill', description: content.description }
        : { kind: 'refused', reason: content.reason },
  }));
}
