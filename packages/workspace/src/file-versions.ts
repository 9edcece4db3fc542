import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type NewId, resolveFileAgingStart } from '@parley/core';
import { type FileName, MAX_BYTES, walkPath } from './paths.ts';
import type { LockHold, WorkspaceLock } from './workspace-lock.ts';
import { type DiskResult, readFileForWrite, writeFileInside } from './write-file.ts';

/**
 * `changed`: the file's text differs from the one that the change was based on, so nothing was
 * changed.
 */
export type FileChange =
  | { readonly kind: 'written' | 'changed' }
  | { readonly kind: 'refused'; readonly detail: string };

export interface FileVersion {
  /**
   * The version name, for example `2026-11-22T020014Z-001`; later versions sort after earlier ones.
   */
  readonly name: string;
  /** When the version was stored, in ms. */
  readonly at: number;
}

export interface FileVersionsOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly lock: WorkspaceLock;
}

/** The maximum number of versions per file; the oldest are removed. */
const MAX_VERSIONS = 30;
/** The age after which versions are removed, in ms. */
const KEPT_MS = 365 * 24 * 60 * 60_000;

/** Hashes a file's text; null if there is no file. */
export function hashFileText(raw: string | null): string | null {
  return raw === null ? null : createHash('sha256').update(raw).digest('base64url').slice(0, 22);
}

/**
 * One workspace file with its earlier versions, which are stored in a hidden folder that views do
 * not read.
 */
export class FileVersions {
  protected readonly options: FileVersionsOptions;
  readonly #file: FileName;
  readonly #home: readonly string[];

  constructor(options: FileVersionsOptions, file: FileName, home: readonly string[]) {
    this.options = options;
    this.#file = file;
    this.#home = home;
  }

  /** Lists the versions, newest first. */
  async list(): Promise<readonly FileVersion[]> {
    const { folder } = this.options;
    if (walkPath(folder, { segments: this.#home }).kind !== 'not-a-file') return [];
    const names = await readdir(join(folder, ...this.#home));
    const found = names.flatMap((file) => {
      const version = file.endsWith('.md') ? readVersionName(file.slice(0, -3)) : null;
      return version === null ? [] : [version];
    });
    return found.sort((one, other) => (one.name < other.name ? 1 : -1));
  }

  /** Reads a version byte for byte; null if it does not exist. */
  async raw(name: string): Promise<string | null> {
    return readVersionName(name) === null ? null : this.#textAt(this.#place(name, 'md'));
  }

  /** Reads the reasons for a version; empty if the text was found on disk. */
  async why(name: string): Promise<readonly string[]> {
    if (readVersionName(name) === null) return [];
    const text = await this.#textAt(this.#place(name, 'why'));
    return text === null ? [] : text.split('\n').filter((line) => line !== '');
  }

  /**
   * Reads the entire current file; null if it does not exist. Throws if the file is too large, or
   * is a link or a folder.
   */
  async content(): Promise<string | null> {
    const { folder } = this.options;
    const found = walkPath(folder, this.#file);
    if (found.kind === 'file' && found.file.bytes > MAX_BYTES) throw new Error('it is too large');
    const content = await readFileForWrite(folder, this.#file);
    if (content.kind === 'refused') throw new Error(content.detail);
    return content.text;
  }

  /**
   * Writes the file, or removes it if `to` is null, provided that its hash is still `base`; stores
   * both texts.
   */
  save(base: string | null, to: string | null, why: string): Promise<FileChange> {
    return this.options.lock.hold(async (hold) => {
      const before = await this.content();
      if (hashFileText(before) !== base) return { kind: 'changed' };
      return this.change(hold, before, to, [why]);
    });
  }

  /** Restores a version byte for byte; the current text is stored first. */
  restore(name: string, why = ''): Promise<FileChange> {
    return this.options.lock.hold(async (hold) => {
      const version = await this.raw(name);
      if (version === null) return { kind: 'refused', detail: `there is no version ${name}` };
      const reason = `restored from ${name}${why}`;
      return this.change(hold, await this.content(), version, [reason]);
    });
  }

  /**
   * Rewrites all versions and reasons (G15). Returns how many lines were removed, and the versions
   * that could not be written.
   */
  forget(shorten: (text: string) => string) {
    return this.options.lock.hold(async (hold) => {
      const failed: { readonly name: string; readonly detail: string }[] = [];
      let count = 0;
      const places = (await this.list()).flatMap(({ name }) => [
        this.#place(name, 'md'),
        this.#place(name, 'why'),
      ]);
      for (const place of places) {
        const text = await this.#textAt(place);
        const kept = text === null ? null : shorten(text);
        if (text === null || kept === null || kept === text) continue;
        const result = await this.#write(hold, place, kept);
        if (result.kind === 'written') count += text.split('\n').length - kept.split('\n').length;
        else failed.push({ name: place.name, detail: result.detail });
      }
      return { count, failed };
    });
  }

  /**
   * Stores both texts for a writer that holds the lock and has replaced the file itself. Throws
   * disk errors.
   */
  async note(hold: LockHold, before: string | null, after: string, why: string): Promise<void> {
    if (before !== null) await this.#keep(hold, before, []);
    await this.#keep(hold, after, [why]);
  }

  /**
   * Removes versions that are too old, and the oldest versions if there are too many, but never the
   * current text of an existing file or the text before it. `lastWritten` is when another file last
   * got a version, which also shows that time has passed.
   */
  async tidy(lastWritten = 0): Promise<void> {
    const { folder, clock } = this.options;
    const spared = walkPath(folder, this.#file).kind === 'missing' ? 0 : 2;
    const versions = await this.list();
    const newest = Math.max(versions[0]?.at ?? 0, lastWritten);
    const oldest = resolveFileAgingStart(clock(), newest) - KEPT_MS;
    for (const [index, { name, at }] of versions.entries()) {
      if (index < spared || (index < MAX_VERSIONS && at >= oldest)) continue;
      for (const { segments } of [this.#place(name, 'md'), this.#place(name, 'why')]) {
        await rm(join(folder, ...segments), { force: true });
      }
    }
  }

  /** Stores the current text before it is replaced, so that nothing is lost if the write fails. */
  protected async change(
    hold: LockHold,
    before: string | null,
    after: string | null,
    why: readonly string[],
  ): Promise<FileChange> {
    if (after === null) return this.#remove(hold, before, why);
    if (before !== after) {
      if (before !== null) await this.#keep(hold, before, []);
      const written = await this.#write(hold, this.#file, after);
      if (written.kind === 'refused') return written;
    }
    await this.#keep(hold, after, why);
    return { kind: 'written' };
  }

  async #remove(
    hold: LockHold,
    before: string | null,
    why: readonly string[],
  ): Promise<FileChange> {
    if (before === null) return { kind: 'changed' };
    await this.#keep(hold, before, why, true);
    if (!hold.isMine()) return { kind: 'changed' };
    await rm(join(this.options.folder, ...this.#file.segments));
    return { kind: 'written' };
  }

  /**
   * Stores a text, unless it is already the newest version and `isEvent` is false. Throws disk
   * errors.
   */
  async #keep(
    hold: LockHold,
    text: string,
    why: readonly string[],
    isEvent = false,
  ): Promise<void> {
    const newest = (await this.list())[0];
    const isKnown = newest !== undefined && (await this.raw(newest.name)) === text;
    if (isKnown && !isEvent) return;
    const name = formatVersionName(this.options.clock(), newest);
    const put = async (place: FileName, content: string): Promise<void> => {
      const result = await this.#write(hold, place, content);
      if (result.kind === 'refused') throw new Error(`${place.name}: ${result.detail}`);
    };
    // The reasons are written first, because a version without reasons would look like a person's
    // edit.
    if (why.length > 0) await put(this.#place(name, 'why'), `${why.join('\n')}\n`);
    await put(this.#place(name, 'md'), text);
    await this.tidy();
  }

  #place(version: string, ending: 'md' | 'why'): FileName {
    const segments = [...this.#home, `${version}.${ending}`];
    return { name: segments.join('/'), segments };
  }

  #write(hold: LockHold, place: FileName, text: string): Promise<DiskResult> {
    const { folder, newId } = this.options;
    return writeFileInside(folder, place, Buffer.from(text), { newId, hold });
  }

  async #textAt(place: FileName): Promise<string | null> {
    if (walkPath(this.options.folder, place).kind !== 'file') return null;
    return readFile(join(this.options.folder, ...place.segments), 'utf8');
  }
}

const NAME = /^(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z-(\d{3})$/;
const LAST = 999;

/**
 * Returns the name of the next version, which never sorts before `newest`, even when the clock was
 * set back.
 */
export function formatVersionName(now: number, newest: FileVersion | undefined): string {
  const moment = formatVersionStamp(now);
  if (newest === undefined || formatVersionStamp(newest.at) < moment) return `${moment}-001`;
  const count = Number(NAME.exec(newest.name)?.[5] ?? 0);
  if (count === LAST) return `${formatVersionStamp(newest.at + 1_000)}-001`;
  return `${formatVersionStamp(newest.at)}-${String(count + 1).padStart(3, '0')}`;
}

/** Parses a version name; null if the name is invalid. */
export function readVersionName(name: string): FileVersion | null {
  const [, day, hours, minutes, seconds] = NAME.exec(name) ?? [];
  const at = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(at) ? null : { name, at };
}

function formatVersionStamp(moment: number): string {
  return `${new Date(moment).toISOString().slice(0, 19).replaceAll(':', '')}Z`;
}
