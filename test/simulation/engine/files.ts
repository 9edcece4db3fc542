import fs, { type PathLike } from 'node:fs';
import nodePromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setImmediate } from 'node:timers/promises';

/** The functions of `node:fs/promises` whose synchronous counterparts do the same. */
const ALIKE = [
  'access', 'appendFile', 'chmod', 'chown', 'copyFile', 'cp', 'lchown', 'link', 'lstat', 'lutimes',
  'mkdir', 'mkdtemp', 'readdir', 'readlink', 'realpath', 'rename', 'rm', 'rmdir', 'stat', 'statfs',
  'symlink', 'truncate', 'unlink', 'utimes',
] as const;

type Sync = (...args: unknown[]) => unknown;

/**
 * Makes file operations of this thread happen at once, one step of the simulation later: those of Node end in an
 * order that the machine decides. A process can be killed before each of them.
 */
export function installFiles(): void {
  const sync = fs as unknown as Readonly<Record<string, Sync>>;
  const called = (name: string): Sync => sync[`${name}Sync`] ?? (() => {});
  const alike = ALIKE.map((name) => {
    const call = called(name);
    return [name, async (...args: unknown[]) => step(() => call(...args))] as const;
  });
  const replaced = {
    ...Object.fromEntries(alike),
    open: (path: PathLike, flags?: string | number, mode?: string | number) =>
      step(() => new SimulatedFile(fs.openSync(path, flags ?? 'r', mode))),
    readFile: (from: unknown, options?: unknown) =>
      from instanceof SimulatedFile
        ? from.readFile(options)
        : step(() => called('readFile')(from, withoutSignal(options))),
    writeFile: (to: unknown, data: unknown, options?: unknown) =>
      to instanceof SimulatedFile
        ? to.writeFile(data, options)
        : step(() => called('writeFile')(to, data, withoutSignal(options))),
  };
  Object.assign(nodePromises, replaced);
  Object.assign(fs.promises, replaced);
  syncBuiltinESMExports();
}

async function step<T>(work: () => T): Promise<T> {
  await setImmediate();
  return work();
}

/** A signal that fired before the operation begins is seen there; the operation itself takes no time. */
function withoutSignal(options: unknown): unknown {
  if (typeof options !== 'object' || options === null) return options;
  const { signal: _, ...rest } = options as { readonly signal?: AbortSignal };
  return rest;
}

/** A `FileHandle`, as far as Parley uses it. */
class SimulatedFile {
  readonly fd: number;
  #isOpen = true;

  constructor(fd: number) {
    this.fd = fd;
  }

  stat(options?: fs.StatSyncOptions) {
    return step(() => fs.fstatSync(this.fd, options));
  }

  /** With a buffer and a place in it, or with options that may bring the buffer. */
  read(first: unknown, second?: unknown, length?: number, position?: number) {
    return step(() => {
      const { buffer = first, ...place } = (ArrayBuffer.isView(first)
        ? typeof second === 'object' && second !== null
          ? second
          : { offset: second, length, position }
        : first) as { readonly buffer?: unknown };
      const bytesRead = (fs.readSync as Sync)(this.fd, buffer, clean(place)) as number;
      return { bytesRead, buffer };
    });
  }

  write(data: string | NodeJS.ArrayBufferView, ...rest: unknown[]) {
    return step(() => ({
      bytesWritten: (fs.writeSync as Sync)(this.fd, data, ...rest) as number,
      buffer: data,
    }));
  }

  readFile(options?: unknown) {
    return step(() => (fs.readFileSync as Sync)(this.fd, withoutSignal(options)));
  }

  writeFile(data: unknown, options?: unknown) {
    return step(() => (fs.writeFileSync as Sync)(this.fd, data, withoutSignal(options)));
  }

  appendFile(data: unknown, options?: unknown) {
    return this.writeFile(data, options);
  }

  truncate(length?: number) {
    return step(() => fs.ftruncateSync(this.fd, length));
  }

  chmod(mode: fs.Mode) {
    return step(() => fs.fchmodSync(this.fd, mode));
  }

  utimes(accessed: fs.TimeLike, modified: fs.TimeLike) {
    return step(() => fs.futimesSync(this.fd, accessed, modified));
  }

  sync() {
    return step(() => fs.fsyncSync(this.fd));
  }

  datasync() {
    return step(() => fs.fdatasyncSync(this.fd));
  }

  close() {
    return step(() => {
      if (this.#isOpen) fs.closeSync(this.fd);
      this.#isOpen = false;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Without the fields that are undefined, which the synchronous call would read as given. */
function clean(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
