import { reasonOf } from '@parley/core';
import { StoreError, type StoreErrorCode } from '../database.ts';

type Explanation = readonly [code: StoreErrorCode, message: (name: string) => string];

const UNWRITABLE: Explanation = [
  'store-unwritable',
  (name) =>
    `Parley cannot write ${name}. Give the user that runs Parley write access to the file and its folder, or choose another data folder.`,
];
const FULL: Explanation = [
  'store-full',
  (name) => `The disk that holds ${name} is full; nothing was written. Make room on it.`,
];
const DAMAGED: Explanation = [
  'store-damaged',
  (name) =>
    `${name} is damaged or is not a database of Parley. Put a backup back with "parley restore FILE", or move it away to start with an empty one.`,
];
const BUSY: Explanation = [
  'store-busy',
  (name) => `Another program holds ${name} locked. Try again, or stop that program.`,
];
const FAILED: Explanation = ['store-failed', (name) => `A query on ${name} failed.`];

/** SQLite's primary result codes (sqlite.org/rescode.html) that have a remedy of their own. */
const BY_RESULT_CODE: ReadonlyMap<number, Explanation> = new Map([
  [3, UNWRITABLE],
  [5, BUSY],
  [6, BUSY],
  [8, UNWRITABLE],
  [11, DAMAGED],
  [13, FULL],
  [14, UNWRITABLE],
  [26, DAMAGED],
]);

const BY_SYSTEM_CODE: ReadonlyMap<string, Explanation> = new Map([
  ...['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'EEXIST', 'ENOENT', 'ELOOP'].map(
    (code): [string, Explanation] => [code, UNWRITABLE],
  ),
  ['ENOSPC', FULL],
  ['EDQUOT', FULL],
]);

/** Explains what SQLite or the file system threw about the database called `name`. */
export function explainSqliteFailure(name: string, thrown: unknown): StoreError {
  if (thrown instanceof StoreError) return thrown;
  const [code, message] = explanationOf(thrown);
  return new StoreError(code, `${message(name)} (${reasonOf(thrown)})`, thrown);
}

function explanationOf(thrown: unknown): Explanation {
  if (!(thrown instanceof Error)) return FAILED;
  if ('errcode' in thrown && typeof thrown.errcode === 'number') {
    // The low byte is the primary code, the rest says in which corner it happened.
    return BY_RESULT_CODE.get(thrown.errcode & 0xff) ?? FAILED;
  }
  if ('code' in thrown && typeof thrown.code === 'string') {
    return BY_SYSTEM_CODE.get(thrown.code) ?? FAILED;
  }
  return FAILED;
}
