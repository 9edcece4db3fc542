import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { dirname, sep } from 'node:path';
import { finished } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { isBundle, resolveModuleUrl } from '@parley/core/installation';
import { z } from 'zod';
import { readProcNumber } from '../processes.ts';
import type { DocumentText } from './document-text.ts';

/** A kind of process that reads one file. */
export interface ProcessKind<Result> {
  readonly entry: URL;
  /** The libraries that the process imports, apart from Node and this package. */
  readonly libraries: readonly string[];
  /**
   * Whether a library is native code, to which Node's own permissions do not apply. Once such a
   * library is loaded, the kernel prevents the process from opening further files or connections.
   */
  readonly isNative?: boolean;
  readonly result: z.ZodType<Result>;
}

export interface ProcessLimits {
  /** The resident memory, in bytes; Node and a library use about 90 MB of it. */
  readonly memoryBytes: number;
  /** The time from start to result, in ms. */
  readonly timeoutMs: number;
}

/** How a process ended; `failed` means only that the file could not be read within the limits. */
export type ProcessOutcome<Result> =
  | { readonly kind: 'read'; readonly result: Result; readonly peakBytes: number }
  | {
      readonly kind: 'failed';
      readonly why: 'memory' | 'time' | 'crash' | 'stopped';
      /** The highest resident memory observed, in bytes. */
      readonly peakBytes: number;
    };

interface ProcessRequest {
  readonly bytes: Uint8Array;
  /** The arguments after the size of the file. */
  readonly numbers: readonly number[];
  /** The maximum length of the output. */
  readonly mostBytes: number;
  readonly limits: ProcessLimits;
  readonly signal: AbortSignal;
}

/** The interval between two memory checks of a process, in ms. */
const WATCH_MS = 20;
/**
 * A character takes at most this many bytes in JSON (`\u0000`); a reason or a note is added to the
 * output.
 */
const BYTES_A_CHARACTER = 6;
const BYTES_ON_TOP = 4_096;

/** The maximum output of a process that reads this many characters of a document, in bytes. */
export function getMaxOutputBytes(characters: number): number {
  return characters * BYTES_A_CHARACTER + BYTES_ON_TOP;
}

/**
 * The process that extracts the text of a document; started with an offset and a number of
 * characters.
 */
export const DOCUMENTS: ProcessKind<DocumentText> = {
  entry: resolveModuleUrl('document-process', new URL('./document-process.ts', import.meta.url)),
  libraries: [
    '@mozilla/readability',
    'fflate',
    'htmlparser2',
    'jschardet',
    'linkedom',
    'postal-mime',
    'read-excel-file/node',
    'turndown',
    'turndown-plugin-gfm',
    'unpdf',
  ],
  result: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('text'),
      text: z.string(),
      next: z.int().min(0).nullable(),
      length: z.int().min(0),
      pagesLeft: z.int().min(0),
      warning: z.string().max(500).nullable(),
    }),
    z.strictObject({ kind: z.literal('refused'), reason: z.string().max(500) }),
  ]),
};

/**
 * The process that scales a picture down; started with the longest side in pixels. The result is a
 * JPEG, or null for a picture that cannot be decoded.
 */
export const PICTURES: ProcessKind<string | null> = {
  entry: resolveModuleUrl('picture-process', new URL('./picture-process.ts', import.meta.url)),
  libraries: ['sharp'],
  isNative: true,
  result: z.base64().nullable(),
};

/** A small young generation, so that garbage is collected before it counts as used memory. */
const HEAP = ['--max-old-space-size=96', '--max-semi-space-size=2'];
/** How many bytes V8 reserves for each byte it uses; the kernel refuses to allocate more. */
const RESERVED_SHARE = 1.5;
/** V8 exits with one of these signals when its heap is full. */
const HEAP_FULL: readonly (string | null)[] = ['SIGABRT', 'SIGTRAP'];

/**
 * `peakBytes` is measured by the process itself, because the memory check may have come too late to
 * kill it.
 */
const Report = z.strictObject({ result: z.unknown(), peakBytes: z.number() });

/**
 * Reads a file in a separate process that ends afterwards (G19). The process has no environment
 * variables, may open only program and library files, and is killed from outside if it exceeds its
 * memory or time limit.
 */
export async function readInProcess<Result>(
  kind: ProcessKind<Result>,
  order: ProcessRequest,
): Promise<ProcessOutcome<Result>> {
  const { limits, signal } = order;
  if (signal.aborted) return { kind: 'failed', why: 'stopped', peakBytes: 0 };
  const child = startReader(kind, order);
  const { promise, resolve } = Promise.withResolvers<ProcessOutcome<Result>>();
  let peakBytes = 0;
  let failure: 'memory' | 'time' | 'crash' | 'stopped' | null = null;
  const fail = (why: typeof failure): void => {
    failure ??= why;
    child.kill('SIGKILL');
  };
  const kill = (): void => void child.kill('SIGKILL');
  const stop = (): void => fail('stopped');
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, readMemory(child.pid, 'VmHWM'));
    if (peakBytes > limits.memoryBytes) fail('memory');
  }, WATCH_MS);
  const timer = setTimeout(() => fail('time'), limits.timeoutMs);
  signal.addEventListener('abort', stop, { once: true });
  process.once('exit', kill);
  // A broken pipe means that the process has ended; its exit is awaited anyway.
  if (child.stdin !== null) finished(child.stdin, () => {});
  const output = collectOutput(child, order.mostBytes, {
    ready: () => void limitProcess(child, kind, limits).then(() => child.stdin?.end(order.bytes)),
    tooMuch: () => fail('crash'),
  });
  child.once('error', () => resolve({ kind: 'failed', why: 'crash', peakBytes }));
  child.once('close', (_code, killedBy) => {
    if (failure === null && HEAP_FULL.includes(killedBy)) failure = 'memory';
    if (failure === null && killedBy === 'SIGXCPU') failure = 'time';
    const report = failure === null ? parseReport(output(), kind.result) : null;
    peakBytes = Math.max(peakBytes, report?.peakBytes ?? 0);
    if (peakBytes > limits.memoryBytes) failure ??= 'memory';
    if (report !== null && failure === null)
      resolve({ kind: 'read', result: report.result, peakBytes });
    else resolve({ kind: 'failed', why: failure ?? 'crash', peakBytes });
  });
  return promise.finally(() => {
    clearInterval(watch);
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    process.removeListener('exit', kill);
  });
}

/** Whether the libraries of a process are installed; optional ones may not be. */
export function isInstalled<Result>({ libraries }: ProcessKind<Result>): boolean {
  try {
    return libraries.every((name) => import.meta.resolve(name) !== '');
  } catch {
    return false; // Node throws for a package that it cannot find.
  }
}

function startReader<Result>(
  kind: ProcessKind<Result>,
  { bytes, numbers }: Pick<ProcessRequest, 'bytes' | 'numbers'>,
): ChildProcess {
  const folders = listReadableFolders(kind).map((folder) => `${folder}${sep}`);
  const access = [...folders, '/proc/self/status'].map((path) => `--allow-fs-read=${path}`);
  const addons = kind.isNative === true ? ['--allow-addons'] : [];
  const bans = ['--permission', '--disallow-code-generation-from-strings', ...addons];
  // The output of the libraries is discarded. The process gets its own session, because Ctrl-C is
  // meant for Parley.
  const order = [bytes.length, ...numbers].map(String);
  const flags = [...HEAP, ...bans, ...access];
  const child = spawn(process.execPath, [...flags, fileURLToPath(kind.entry), ...order], {
    env: {},
    cwd: sep,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  if (child.pid !== undefined) {
    try {
      setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // The process has already ended, or the machine does not allow a lower priority, which is
      // optional.
    }
  }
  return child;
}

/** The folders of this package, and of its libraries and their dependencies. */
function listReadableFolders<Result>({
  entry,
  libraries,
  isNative = false,
}: ProcessKind<Result>): string[] {
  // All other libraries are part of Parley's bundle.
  const installed = (isBundle && !isNative ? [] : libraries).map((name) => {
    const path = fileURLToPath(import.meta.resolve(name));
    return path.slice(0, path.lastIndexOf(`${sep}node_modules${sep}`) + 13);
  });
  const sources = isBundle
    ? [dirname(fileURLToPath(entry))]
    : [DOCUMENTS.entry, entry, import.meta.resolve('@parley/core/encoding')].map((url) =>
        dirname(dirname(fileURLToPath(url))),
      );
  return [...new Set([...sources, ...installed])];
}

/**
 * Sets the kernel's own limits on writable memory and CPU time, because the memory check may come
 * late when this process is busy. The CPU limit also ends a process whose parent was killed. The
 * limits are set once Node is running, because memory that Node reserves but never uses counts as
 * well. Without `prlimit` (util-linux), only the memory check limits the process.
 */
function limitProcess<Result>(
  { pid }: ChildProcess,
  { isNative = false }: ProcessKind<Result>,
  { memoryBytes, timeoutMs }: ProcessLimits,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const reserved = readMemory(pid, 'VmData');
  if (pid === undefined || reserved === 0) return Promise.resolve();
  const free = Math.max(memoryBytes - readMemory(pid, 'VmRSS'), 0);
  const data = reserved + Math.ceil(free * RESERVED_SHARE);
  const seconds = Math.ceil(timeoutMs / 1_000) * 2;
  const limits = [`--data=${data}`, `--cpu=${seconds}`, '--core=0', '--fsize=0'];
  if (isNative) limits.push('--nofile=0');
  execFile('prlimit', ['--pid', String(pid), ...limits], () => resolve());
  return promise;
}

/**
 * Returns a line of `/proc/PID/status`, in bytes; 0 once the process has ended, and on machines
 * without `/proc`.
 */
function readMemory(pid: number | undefined, line: 'VmHWM' | 'VmData' | 'VmRSS'): number {
  return readProcNumber(`/proc/${pid}/status`, new RegExp(`^${line}:\\s+(\\d+) kB$`, 'm')) * 1_024;
}

/** Reports the first byte of a stream, and collects the rest up to a limit. */
function collectOutput(
  { stdout }: ChildProcess,
  limit: number,
  when: { ready(): void; tooMuch(): void },
): () => string {
  const chunks: Buffer[] = [];
  let length = 0;
  stdout?.on('data', (chunk: Buffer) => {
    if (length === 0) when.ready();
    length += chunk.length;
    if (length > limit) when.tooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function parseReport<Result>(output: string, schema: z.ZodType<Result>) {
  try {
    const { result, peakBytes } = Report.parse(JSON.parse(output));
    return { result: schema.parse(result), peakBytes };
  } catch {
    return null; // The output is not the expected JSON: the process was interrupted, or something else wrote to its output.
  }
}
