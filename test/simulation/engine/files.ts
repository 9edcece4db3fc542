import fs, { type PathLike } from 'node:fs';
import nodePromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

/** The functions of `node:fs/promises` with equivalent synchronous counterparts. */
const ALIKE = [
  'access',
  'appendFile',
  'chmod',
  'chown',
  'copyFile',
  'cp',
  'lchown',
  'link',
  'lstat',
  'lutimes',
  'mkdir',
  'mkdtemp',
  'readdir',
  'readlink',
  'realpath',
  'rename',
  'rm',
  'rmdir',
  'stat',
  'statfs',
  'symlink',
  'truncate',
  'unlink',
  'utimes',
] as const;

/** How long a file operation takes beyond its step, in ms. */
export interface FileDelays {
  msOf(path: string): number;
}

type SyncFunction = (...args: unknown[]) => unknown;

/**
 * Makes file operations of this thread synchronous and complete one simulation step later, because
 * the order in which Node's own operations complete depends on the machine. A process can be killed
 * before each operation.
 */
export function installFiles(delays: FileDelays): void {
  const step = async <T>(path: unknown, work: () => T): Promise<T> => {
    const ms = typeof path === 'string' ? delays.msOf(path) : 0;
    if (ms > 0) await sleep(ms);
    return runAtOnce(work);
  };
  const sync = fs as unknown as Readonly<Record<string, SyncFunction>>;
  const called = (name: string): SyncFunction => sync[`${name}Sync`] ?? (() => {});
  const alike = ALIKE.map((name) => {
    const call = called(name);
    return [name, async (...args: unknown[]) => step(args[0], () => call(...args))] as const;
  });
  const replaced = {
    ...Object.fromEntries(alike),
    open: (path: PathLike, flags?: string | number, mode?: string | number) =>
      step(path, () => new SimulatedFile(fs.openSync(path, flags ?? 'r', mode))),
    readFile: (from: unknown, options?: unknown) =>
      from instanceof SimulatedFile
        ? from.readFile(options)
        : step(from, () => called('readFile')(from, removeSignal(options))),
    writeFile: (to: unknown, data: unknown, options?: unknown) =>
      to instanceof SimulatedFile
        ? to.writeFile(data, options)
        : step(to, () => called('writeFile')(to, data, removeSignal(options))),
  };
  Object.assign(nodePromises, replaced);
  Object.assign(fs.promises, replaced);
  syncBuiltinESMExports();
}

async function runAtOnce<T>(work: () => T): Promise<T> {
  await setImmediate();
  return work();
}

/**
 * A signal that has already fired is honored before the operation starts; the operation itself
 * takes no time.
 */
function removeSignal(options: unknown): unknown {
  if (typeof options !== 'object' || options === null) return options;
  const { signal: _, ...rest } = options as { readonly signal?: AbortSignal };
  return rest;
}

/** The subset of `FileHandle` that Parley uses. */
class SimulatedFile {
  readonly fd: number;
  #isOpen = true;

  constructor(fd: number) {
    this.fd = fd;
  }

  stat(options?: fs.StatSyncOptions) {
    return runAtOnce(() => fs.fstatSync(this.fd, options));
  }

  /** Accepts a buffer and an offset, or an options object that may contain the buffer. */
  read(first: unknown, second?: unknown, length?: number, position?: number) {
    return runAtOnce(() => {
      const { buffer = first, ...place } = (
        ArrayBuffer.isView(first)
          ? typeof second === 'object' && second !== null
            ? second
            : { offset: second, length, position }
          : first
      ) as { readonly buffer?: unknown };
      const bytesRead = (fs.readSync as SyncFunction)(
        this.fd,
        buffer,
        removeUndefined(place),
      ) as number;
      return { bytesRead, buffer };
    });
  }

  write(data: string | NodeJS.ArrayBufferView, ...rest: unknown[]) {
    return runAtOnce(() => ({
      bytesWritten: (fs.writeSync as SyncFunction)(this.fd, data, ...rest) as number,
      buffer: data,
    }));
  }

  readFile(options?: unknown) {
    return runAtOnce(() => (fs.readFileSync as SyncFunction)(this.fd, removeSignal(options)));
  }

  writeFile(data: unknown, options?: unknown) {
    return runAtOnce(() =>
      (fs.writeFileSync as SyncFunction)(this.fd, data, removeSignal(options)),
    );
  }

  appendFile(data: unknown, options?: unknown) {
    return this.writeFile(data, options);
  }

  truncate(length?: number) {
    return runAtOnce(() => fs.ftruncateSync(this.fd, length));
  }

  chmod(mode: fs.Mode) {
    return runAtOnce(() => fs.fchmodSync(this.fd, mode));
  }

  utimes(accessed: fs.TimeLike, modified: fs.TimeLike) {
    return runAtOnce(() => fs.futimesSync(this.fd, accessed, modified));
  }

  sync() {
    return runAtOnce(() => fs.fsyncSync(this.fd));
  }

  datasync() {
    return runAtOnce(() => fs.fdatasyncSync(this.fd));
  }

  close() {
    return runAtOnce(() => {
      if (this.#isOpen) fs.closeSync(this.fd);
      this.#isOpen = false;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Removes undefined fields, which the synchronous call would treat as given. */
function removeUndefined(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
