import fs, { type PathLike } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import type { RandomChance } from './chance.ts';

/**
 * After this time, in ms, the kernel writes dirty pages on its own (`vm.dirty_expire_centisecs`).
 */
const WRITTEN_BACK_MS = 30_000;
/** Where Linux publishes the id of the current boot. */
const BOOT_FILE = '/proc/sys/kernel/random/boot_id';

type FileFunction = (...args: unknown[]) => unknown;

/**
 * Tracks which files of this thread are certainly on the disk: each write makes a file unsynced
 * until `fsync`. Also provides the boot id of the machine, since files may record an earlier one.
 */
export class SyncedFiles {
  /** Maps the inode of each unsynced file to the time of its last write. */
  readonly #unsynced = new Map<number, number>();
  readonly #now: () => number;
  /** Changes with each power cut. */
  boot = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(): void {
    this.#unsynced.clear();
    this.boot = 0;
  }

  /** Must be called before other parts of the simulation capture these functions. */
  install(): void {
    const table = fs as unknown as Record<string, FileFunction>;
    const real = { ...table };
    const statOf = (file: unknown): fs.Stats | undefined =>
      typeof file === 'number'
        ? fs.fstatSync(file)
        : fs.statSync(file as PathLike, { throwIfNoEntry: false });
    const wrap = (name: string, then: (args: readonly unknown[]) => void): void => {
      table[name] = (...args) => {
        const result = real[name]?.(...args);
        then(args);
        return result;
      };
    };
    const written = (file: unknown): void => {
      const stats = statOf(file);
      if (stats?.isFile()) this.#unsynced.set(stats.ino, this.#now());
    };
    const synced = (file: unknown): void => void this.#unsynced.delete(statOf(file)?.ino ?? -1);
    for (const name of ['writeSync', 'writevSync', 'ftruncateSync', 'truncateSync']) {
      wrap(name, ([file]) => written(file));
    }
    for (const name of ['writeFileSync', 'appendFileSync']) {
      wrap(name, ([file, , options]) => (isFlushed(options) ? synced(file) : written(file)));
    }
    wrap('copyFileSync', ([, file]) => written(file));
    for (const name of ['fsyncSync', 'fdatasyncSync']) wrap(name, ([file]) => synced(file));
    table.readFileSync = (...args) => {
      if (args[0] !== BOOT_FILE) return real.readFileSync?.(...args);
      return `00000000-0000-4000-8000-${String(this.boot).padStart(12, '0')}\n`;
    };
    syncBuiltinESMExports();
  }

  /** Marks a file written outside the simulation as synced long ago. */
  assumeSynced(path: string): void {
    const stats = fs.statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined) this.#unsynced.delete(stats.ino);
  }

  /**
   * Applies a power cut to the files of a folder, except those that `isKept` selects: an unsynced
   * file is gone, empty, truncated or intact. Returns a description of the losses.
   */
  cut(folder: string, isKept: (path: string) => boolean, chance: RandomChance): readonly string[] {
    this.boot += 1;
    const lost: string[] = [];
    const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
    for (const name of names) {
      const path = join(folder, name);
      const stats = fs.lstatSync(path);
      const at = this.#unsynced.get(stats.ino);
      if (at === undefined || !stats.isFile() || isKept(path)) continue;
      this.#unsynced.delete(stats.ino);
      if (this.#now() - at > WRITTEN_BACK_MS) continue;
      const fate = chance.one(['gone', 'empty', 'cut off', 'there', 'there'] as const);
      if (fate === 'there') continue;
      lost.push(`${name} is ${fate}`);
      if (fate === 'gone') fs.rmSync(path);
      else fs.truncateSync(path, fate === 'empty' ? 0 : Math.floor(chance.next() * stats.size));
    }
    this.#unsynced.clear();
    return lost;
  }
}

function isFlushed(options: unknown): boolean {
  return typeof options === 'object' && options !== null && 'flush' in options
    ? options.flush === true
    : false;
}
