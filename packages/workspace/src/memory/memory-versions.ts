import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, NewId } from '@parley/contracts';
import { AudienceFrontMatter } from '../audience.ts';
import { readFrontMatter } from '../front-matter.ts';
import { type FileName, walkPath } from '../paths.ts';
import { contentOf, type Hold, type WorkspaceLock, writeFileInside } from '../write-file.ts';
import { headToKeep } from '../write-rules.ts';

/** What became of a change of MEMORY.md. `changed`: somebody else was faster, and nothing was done. */
export type MemoryChange =
  | { readonly kind: 'written' }
  | { readonly kind: 'changed' }
  | { readonly kind: 'refused'; readonly detail: string };

/** A change of MEMORY.md that is kept on both sides. */
export interface MemoryEdit {
  /** What has to stand there, as `current` gave it; null: there is no file. */
  readonly from: string | null;
  readonly to: string;
  /** Why, one line each; belongs to the version that comes of it. */
  readonly why: readonly string[];
}

/** MEMORY.md as it was. */
export interface MemoryText {
  /** The whole file, letter by letter. */
  readonly raw: string;
  /** What it says: without front matter and blank lines around it. */
  readonly text: string;
}

/**
 * MEMORY.md with what it was before (H07). Lies in a hidden folder, where no view, search or tool looks;
 * only the view of an owner leads here.
 */
export interface MemoryVersions {
  /** MEMORY.md without front matter, also a form that nobody has filled in; null: there is none. Throws. */
  current(): Promise<string | null>;
  /** The newest first. */
  list(): Promise<readonly MemoryVersion[]>;
  /** Null: there is no such version. */
  read(name: string): Promise<MemoryText | null>;
  /** Why it became as it is; empty: a person wrote it. */
  why(name: string): Promise<readonly string[]>;
  /** Writes MEMORY.md if it still says `from`, and keeps it as it was and as it is then. */
  replace(edit: MemoryEdit): Promise<MemoryChange>;
  /** Puts a version back to the byte; what stands there now is kept. */
  restore(name: string): Promise<MemoryChange>;
  /** Takes lines out of all versions (G15); how many, and the versions that could not be written. */
  forget(isMeant: (line: string) => boolean): Promise<ForgottenLines>;
}

/** What was taken out of versions. */
export interface ForgottenLines {
  readonly count: number;
  readonly failed: readonly { readonly name: string; readonly detail: string }[];
}

/** What opening them needs. */
export interface MemoryVersionsDeps {
  /** The real path of the workspace. */
  readonly folder: string;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly lock: WorkspaceLock;
}

/** While nobody else writes. */
interface Changing extends MemoryVersionsDeps {
  readonly hold: Hold;
}

/** Where they lie in the workspace, for people. */
export const VERSIONS_FOLDER = '.parley/memory';
/** More are not kept; the oldest go. */
export const MOST_VERSIONS = 30;

/** Larger files are read by nobody. */
const MAX_BYTES = 1_000_000;
const HOME = ['.parley', 'memory'];
const MEMORY: FileName = { name: 'MEMORY.md', segments: ['MEMORY.md'] };

/** Opens the versions of a workspace. */
export function openMemoryVersions(deps: MemoryVersionsDeps): MemoryVersions {
  const { folder, lock } = deps;
  const alone = <T>(work: (changing: Changing) => Promise<T>): Promise<T> =>
    lock.hold((hold) => work({ ...deps, hold }));
  const list = () => listVersions(folder);
  return {
    current: async () => {
      const raw = await rawMemory(folder);
      return raw === null ? null : bodyOf(raw);
    },
    list,
    async read(name) {
      const raw = await rawVersion(folder, name);
      return raw === null ? null : { raw, text: bodyOf(raw) };
    },
    async why(name) {
      const text = readVersionName(name) === null ? null : await textAt(folder, whyPlace(name));
      return text === null ? [] : text.split('\n').filter((line) => line !== '');
    },
    replace: (edit) => alone((changing) => replaceNow(changing, edit)),
    restore: (name) => alone((changing) => restoreNow(changing, name)),
    forget: (isMeant) => alone((changing) => forgetNow(changing, isMeant)),
  };
}

async function replaceNow(deps: Changing, edit: MemoryEdit): Promise<MemoryChange> {
  const raw = await rawMemory(deps.folder);
  if ((raw === null ? null : bodyOf(raw)) !== edit.from) return { kind: 'changed' };
  const head = headToKeep(readFrontMatter(raw ?? '', AudienceFrontMatter));
  return writeKeeping(deps, raw, `${head}${edit.to.trimEnd()}\n`, edit.why);
}

async function restoreNow(deps: Changing, name: string): Promise<MemoryChange> {
  const text = await rawVersion(deps.folder, name);
  if (text === null) return { kind: 'refused', detail: `there is no version ${name}` };
  const raw = await rawMemory(deps.folder);
  return writeKeeping(deps, raw, text, [`brought back from ${name}`]);
}

/** The file as it was is kept first: whatever happens then, nothing is lost. */
async function writeKeeping(
  deps: Changing,
  before: string | null,
  after: string,
  why: readonly string[],
): Promise<MemoryChange> {
  if (before !== after) {
    if (before !== null) await keep(deps, before, []);
    const written = await writeFileInside(deps.folder, MEMORY, Buffer.from(after), deps);
    if (written.kind === 'refused') return { kind: 'refused', detail: written.detail };
  }
  await keep(deps, after, why);
  return { kind: 'written' };
}

/** Keeps a text unless it is the newest that is kept already. Throws when the disk does not let it. */
async function keep(deps: Changing, text: string, why: readonly string[]): Promise<void> {
  const { folder, clock } = deps;
  const versions = await listVersions(folder);
  const newest = versions[0];
  if (newest !== undefined && (await textAt(folder, placeOf(newest.name))) === text) return;
  const name = versionName(clock(), newest);
  // First why: a version without it would look like a person's.
  if (why.length > 0) await put(deps, whyPlace(name), `${why.join('\n')}\n`);
  await put(deps, placeOf(name), text);
  for (const { name: old } of versions.slice(MOST_VERSIONS - 1)) {
    for (const place of [placeOf(old), whyPlace(old)]) {
      await rm(join(folder, ...place.segments), { force: true });
    }
  }
}

async function forgetNow(
  deps: Changing,
  isMeant: (line: string) => boolean,
): Promise<ForgottenLines> {
  const { folder } = deps;
  const failed: { name: string; detail: string }[] = [];
  let count = 0;
  for (const { name } of await listVersions(folder)) {
    for (const place of [placeOf(name), whyPlace(name)]) {
      const lines = (await textAt(folder, place))?.split('\n') ?? [];
      const kept = lines.filter((line) => !isMeant(line));
      if (kept.length === lines.length) continue;
      const result = await writeFileInside(folder, place, Buffer.from(kept.join('\n')), deps);
      if (result.kind === 'written') count += lines.length - kept.length;
      else failed.push({ name: place.name, detail: result.detail });
    }
  }
  return { count, failed };
}

async function put(deps: Changing, place: FileName, text: string): Promise<void> {
  const result = await writeFileInside(deps.folder, place, Buffer.from(text), deps);
  if (result.kind === 'refused') throw new Error(`${place.name}: ${result.detail}`);
}

async function listVersions(folder: string): Promise<readonly MemoryVersion[]> {
  if (walkPath(folder, { segments: HOME }).kind !== 'not-a-file') return [];
  const names = await readdir(join(folder, ...HOME));
  const found = names.flatMap((file) => {
    const version = file.endsWith('.md') ? readVersionName(file.slice(0, -3)) : null;
    return version === null ? [] : [version];
  });
  return found.sort((one, other) => (one.name < other.name ? 1 : -1));
}

async function rawVersion(folder: string, name: string): Promise<string | null> {
  return readVersionName(name) === null ? null : textAt(folder, placeOf(name));
}

async function textAt(folder: string, place: FileName): Promise<string | null> {
  if (walkPath(folder, place).kind !== 'file') return null;
  return readFile(join(folder, ...place.segments), 'utf8');
}

/** The whole file; null: there is none. Throws where it is too large, or a link or a folder. */
async function rawMemory(folder: string): Promise<string | null> {
  const found = walkPath(folder, MEMORY);
  if (found.kind === 'file' && found.file.bytes > MAX_BYTES) throw new Error('it is too large');
  const content = await contentOf(folder, MEMORY);
  if (content.kind === 'refused') throw new Error(content.detail);
  return content.text;
}

function bodyOf(raw: string): string {
  return readFrontMatter(raw, AudienceFrontMatter).body;
}

function placeOf(name: string): FileName {
  return { name: `${VERSIONS_FOLDER}/${name}.md`, segments: [...HOME, `${name}.md`] };
}

function whyPlace(name: string): FileName {
  return { name: `${VERSIONS_FOLDER}/${name}.why`, segments: [...HOME, `${name}.why`] };
}

/** A version of MEMORY.md that is kept. */
export interface MemoryVersion {
  /** Such as `2026-11-22T020014Z-001`; a later one sorts behind an earlier one. */
  readonly name: string;
  /** When it was kept, in ms. */
  readonly at: number;
}

const NAME = /^(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z-(\d{3})$/;
const LAST = 999;

/** The name of the next version: never before `newest`, also when the clock was put back. */
export function versionName(now: number, newest: MemoryVersion | undefined): string {
  const moment = stamp(now);
  if (newest === undefined || stamp(newest.at) < moment) return `${moment}-001`;
  const count = Number(NAME.exec(newest.name)?.[5] ?? 0);
  if (count === LAST) return `${stamp(newest.at + 1_000)}-001`;
  return `${stamp(newest.at)}-${String(count + 1).padStart(3, '0')}`;
}

/** Reads a name; null for what is none. */
export function readVersionName(name: string): MemoryVersion | null {
  const [, day, hours, minutes, seconds] = NAME.exec(name) ?? [];
  const at = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(at) ? null : { name, at };
}

function stamp(moment: number): string {
  return `${new Date(moment).toISOString().slice(0, 19).replaceAll(':', '')}Z`;
}
