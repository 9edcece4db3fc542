import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, NewId } from '@parley/core';
import { AudienceFrontMatter } from '../audience.ts';
import { readFrontMatter } from '../front-matter.ts';
import { type FileName, MAX_BYTES, walkPath } from '../paths.ts';
import {
  contentOf,
  type DiskResult,
  type Hold,
  type WorkspaceLock,
  writeFileInside,
} from '../write-file.ts';
import { headToKeep } from '../write-rules.ts';

/** The result of a change of MEMORY.md. `changed`: it no longer said `from`, and nothing was done. */
type MemoryChange =
  | { readonly kind: 'written' | 'changed' }
  | { readonly kind: 'refused'; readonly detail: string };

/** A change of MEMORY.md of which both sides are kept. */
interface MemoryEdit {
  /** What MEMORY.md must still say, as `current` returned it; null: there is no file. */
  readonly from: string | null;
  readonly to: string;
  /** The reasons, one line each; they belong to the new version. */
  readonly why: readonly string[];
}

interface MemoryVersionsOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly lock: WorkspaceLock;
}

/** The folder of the versions in the workspace, for people. */
export const VERSIONS_FOLDER = '.parley/memory';
/** More are not kept; the oldest are removed. */
export const MOST_VERSIONS = 30;

const HOME = ['.parley', 'memory'];
const MEMORY: FileName = { name: 'MEMORY.md', segments: ['MEMORY.md'] };

/**
 * MEMORY.md with its earlier versions (H07). They are in a hidden folder, which no view, search or tool
 * reads; only the view of an owner leads here.
 */
export class MemoryVersions {
  readonly #options: MemoryVersionsOptions;
  readonly #folder: string;

  constructor(options: MemoryVersionsOptions) {
    this.#options = options;
    this.#folder = options.folder;
  }

  /** MEMORY.md without front matter, also an empty form; null: there is none. Throws. */
  async current(): Promise<string | null> {
    return (await this.#read()).text;
  }

  /** The newest first. */
  async list(): Promise<readonly MemoryVersion[]> {
    if (walkPath(this.#folder, { segments: HOME }).kind !== 'not-a-file') return [];
    const names = await readdir(join(this.#folder, ...HOME));
    const found = names.flatMap((file) => {
      const version = file.endsWith('.md') ? readVersionName(file.slice(0, -3)) : null;
      return version === null ? [] : [version];
    });
    return found.sort((one, other) => (one.name < other.name ? 1 : -1));
  }

  /** A version to the byte, and without front matter and blank lines around it; null: there is none. */
  async read(name: string): Promise<{ readonly raw: string; readonly text: string } | null> {
    if (readVersionName(name) === null) return null;
    const raw = await this.#textAt(textPlace(name));
    return raw === null ? null : { raw, text: bodyOf(raw) };
  }

  /** The reasons of a version; empty: a person wrote it. */
  async why(name: string): Promise<readonly string[]> {
    const text = readVersionName(name) === null ? null : await this.#textAt(whyPlace(name));
    return text === null ? [] : text.split('\n').filter((line) => line !== '');
  }

  /** Writes MEMORY.md if it still says `from`, and keeps the text before and after. */
  replace({ from, to, why }: MemoryEdit): Promise<MemoryChange> {
    return this.#options.lock.hold(async (hold) => {
      const { raw, text } = await this.#read();
      if (text !== from) return { kind: 'changed' };
      const head = headToKeep(readFrontMatter(raw ?? '', AudienceFrontMatter));
      return this.#change(hold, raw, `${head}${to.trimEnd()}\n`, why);
    });
  }

  /** Restores a version to the byte; the present text is kept. */
  restore(name: string): Promise<MemoryChange> {
    return this.#options.lock.hold(async (hold) => {
      const version = await this.read(name);
      if (version === null) return { kind: 'refused', detail: `there is no version ${name}` };
      const { raw } = await this.#read();
      return this.#change(hold, raw, version.raw, [`brought back from ${name}`]);
    });
  }

  /** Removes lines from all versions (G15); how many, and the versions that could not be written. */
  forget(isMeant: (line: string) => boolean) {
    return this.#options.lock.hold(async (hold) => {
      const failed: { readonly name: string; readonly detail: string }[] = [];
      let count = 0;
      const versions = await this.list();
      for (const place of versions.flatMap(({ name }) => [textPlace(name), whyPlace(name)])) {
        const lines = (await this.#textAt(place))?.split('\n') ?? [];
        const kept = lines.filter((line) => !isMeant(line));
        if (kept.length === lines.length) continue;
        const result = await this.#write(hold, place, kept.join('\n'));
        if (result.kind === 'written') count += lines.length - kept.length;
        else failed.push({ name: place.name, detail: result.detail });
      }
      return { count, failed };
    });
  }

  /** Keeps the present text before it is replaced: whatever happens then, nothing is lost. */
  async #change(
    hold: Hold,
    before: string | null,
    after: string,
    why: readonly string[],
  ): Promise<MemoryChange> {
    if (before !== after) {
      if (before !== null) await this.#keep(hold, before, []);
      const written = await this.#write(hold, MEMORY, after);
      if (written.kind === 'refused') return written;
    }
    await this.#keep(hold, after, why);
    return { kind: 'written' };
  }

  /** Keeps a text unless it is the newest version already. Throws when the disk refuses. */
  async #keep(hold: Hold, text: string, why: readonly string[]): Promise<void> {
    const versions = await this.list();
    const newest = versions[0];
    if (newest !== undefined && (await this.#textAt(textPlace(newest.name))) === text) return;
    const name = versionName(this.#options.clock(), newest);
    const put = async (place: FileName, content: string): Promise<void> => {
      const result = await this.#write(hold, place, content);
      if (result.kind === 'refused') throw new Error(`${place.name}: ${result.detail}`);
    };
    // The reasons first: a version without them would look like a person's.
    if (why.length > 0) await put(whyPlace(name), `${why.join('\n')}\n`);
    await put(textPlace(name), text);
    for (const { name: old } of versions.slice(MOST_VERSIONS - 1)) {
      for (const { segments } of [textPlace(old), whyPlace(old)]) {
        await rm(join(this.#folder, ...segments), { force: true });
      }
    }
  }

  /** The whole file; null: there is none. Throws where it is too large, or a link or a folder. */
  async #read(): Promise<{ readonly raw: string | null; readonly text: string | null }> {
    const found = walkPath(this.#folder, MEMORY);
    if (found.kind === 'file' && found.file.bytes > MAX_BYTES) throw new Error('it is too large');
    const content = await contentOf(this.#folder, MEMORY);
    if (content.kind === 'refused') throw new Error(content.detail);
    return { raw: content.text, text: content.text === null ? null : bodyOf(content.text) };
  }

  #write(hold: Hold, place: FileName, text: string): Promise<DiskResult> {
    const { folder, newId } = this.#options;
    return writeFileInside(folder, place, Buffer.from(text), { newId, hold });
  }

  async #textAt(place: FileName): Promise<string | null> {
    if (walkPath(this.#folder, place).kind !== 'file') return null;
    return readFile(join(this.#folder, ...place.segments), 'utf8');
  }
}

function bodyOf(raw: string): string {
  return readFrontMatter(raw, AudienceFrontMatter).body;
}

function textPlace(name: string): FileName {
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
