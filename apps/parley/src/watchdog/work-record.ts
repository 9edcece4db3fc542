import { AsyncLocalStorage } from 'node:async_hooks';
import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type CrashableWork, type Logger, NO_ENDS, reasonOf, type WorkRecord } from '@parley/core';
import {
  type DatedCrashCounts,
  type EndedProcess,
  parseProcessRecord,
  type RecordLine,
  toWorkName,
  updateCrashCounts,
} from './ended-process.ts';
import { WORK_HOOK } from './work-lines.ts';

/** The record of this process's work, and the records of earlier processes. */
export interface OpenWorkRecord extends WorkRecord {
  /** The path of the record; null if the disk cannot store a record. */
  readonly path: string | null;
  /** The uncounted records of earlier processes. */
  readonly ended: readonly EndedProcess[];
  /** Stores the counts of `ended` and removes these records. */
  markCounted(): void;
  /** Removes the record, because after an orderly exit no work is to blame. */
  close(): void;
}

export interface WorkRecordOptions {
  readonly folder: string;
  /** The name of this process, unique among running processes. */
  readonly name: string;
  /**
   * Returns whether the process that wrote a record has ended, so that its unfinished work must be
   * counted.
   */
  readonly hasEnded: (name: string) => boolean;
  readonly clock: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * The maximum size of a record in bytes. A larger record is rewritten without its completed work.
 */
const MAX_FILE_BYTES = 500_000;
/** The maximum length of a stored key, in characters. Platform ids are far shorter. */
const MAX_KEY_CHARACTERS = 300;

/**
 * Opens a record file with one line for each work item that starts or completes. Writing a line
 * takes a few microseconds, because the file is not synced to disk: the record only has to survive
 * the end of the process. The watchdog's thread appends lines to the file while this process hangs.
 */
export function openWorkRecord(options: WorkRecordOptions): OpenWorkRecord {
  return new FileWorkRecord(options);
}

class FileWorkRecord implements OpenWorkRecord {
  readonly path: string;
  readonly ended: readonly EndedProcess[];
  readonly #options: WorkRecordOptions;
  readonly #current = new AsyncLocalStorage<number>();
  readonly #inProgress = new Map<number, CrashableWork>();
  readonly #ends: Map<string, DatedCrashCounts>;
  readonly #old: readonly string[];
  #file: number | undefined;
  #size = 0;
  #next = 1;

  constructor(options: WorkRecordOptions) {
    const { folder, name, clock } = options;
    this.#options = options;
    this.path = join(folder, name);
    this.#old = listRecords(folder).filter((one) => one === name || options.hasEnded(one));
    this.ended = this.#old.map((one) => parseProcessRecord(readFileOrEmpty(join(folder, one))));
    this.#ends = new Map(this.ended.flatMap((one) => [...updateCrashCounts(one, clock())]));
    Reflect.set(globalThis, HOOK, () => this.#current.getStore() ?? null);
  }

  markCounted(): void {
    const { folder, name, log } = this.#options;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.#rewrite();
      for (const one of this.#old) if (one !== name) rmSync(join(folder, one), { force: true });
    } catch (error) {
      log.warn({ path: this.path, reason: reasonOf(error) }, OFF);
    }
  }

  endsOf(work: CrashableWork) {
    return this.#ends.get(toWorkName(truncateWorkKey(work))) ?? NO_ENDS;
  }

  async run<Result>(given: CrashableWork, task: () => Promise<Result>): Promise<Result> {
    const work = truncateWorkKey(given);
    const number = this.#next;
    this.#next += 1;
    this.#inProgress.set(number, work);
    this.#append(['+', number, work.kind, work.key]);
    try {
      return await this.#current.run(number, task);
    } finally {
      this.#inProgress.delete(number);
      this.#append(['-', number]);
      if (this.#ends.delete(toWorkName(work))) this.#append(['cleared', toWorkName(work)]);
    }
  }

  close(): void {
    Reflect.deleteProperty(globalThis, HOOK);
    if (this.#file === undefined) return;
    this.#inProgress.clear();
    if (this.#ends.size > 0) this.#rewrite();
    else rmSync(this.path, { force: true });
    closeSync(this.#file);
    this.#file = undefined;
  }

  #append(line: RecordLine): void {
    if (this.#file === undefined) return;
    try {
      this.#size += writeSync(this.#file, `${JSON.stringify(line)}\n`);
      if (this.#size > MAX_FILE_BYTES) this.#rewrite();
    } catch (error) {
      this.#options.log.warn({ path: this.path, reason: reasonOf(error) }, OFF);
      // The record is emptied. Without the line for completed work, that work would appear to be in
      // progress.
      ftruncateSync(this.#file);
      closeSync(this.#file);
      this.#file = undefined;
    }
  }

  /** Writes the unfinished work and the counts to a new file, which then replaces the old file. */
  #rewrite(): void {
    const lines: RecordLine[] = [
      ...[...this.#ends].map(
        ([name, { hangs, deaths, at }]): RecordLine => ['ends', name, hangs, deaths, at],
      ),
      ...[...this.#inProgress].map(
        ([number, { kind, key }]): RecordLine => ['+', number, kind, key],
      ),
    ];
    // The file is opened for appending, because the watchdog's thread also appends to it.
    const next = openSync(`${this.path}.new`, 'a', 0o600);
    ftruncateSync(next);
    this.#size = writeSync(next, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    // The counts are synced to disk, because they must survive work that crashes the machine.
    fdatasyncSync(next);
    renameSync(`${this.path}.new`, this.path);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = next;
  }
}

const HOOK = Symbol.for(WORK_HOOK);
const OFF = 'work is not recorded: work that ends this process may also end the next process';

function truncateWorkKey({ kind, key }: CrashableWork): CrashableWork {
  return { kind, key: key.slice(0, MAX_KEY_CHARACTERS) };
}

function listRecords(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => !name.endsWith('.new'));
  } catch {
    return [];
  }
}

function readFileOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
