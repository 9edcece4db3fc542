import { ParleyError } from '@parley/core';

/** What can be wrong with a database, each with one remedy. */
export type StoreErrorCode =
  | 'store-url'
  | 'store-newer'
  | 'store-older'
  | 'store-missing'
  | 'store-damaged'
  | 'store-unwritable'
  | 'store-full'
  | 'store-busy'
  | 'store-unreachable'
  | 'store-refused'
  | 'store-closed'
  | 'store-part-state'
  | 'store-fenced'
  | 'store-waiting'
  | 'store-failed';

// The same call may succeed later by itself. A full disk is not here: a person must make room.
const RETRYABLE: ReadonlySet<StoreErrorCode> = new Set(['store-busy', 'store-unreachable']);

/** The only error the repositories throw; the message names the database, never a password. */
export class StoreError extends ParleyError {
  declare readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: RETRYABLE.has(code), cause });
  }
}
