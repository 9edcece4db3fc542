import { ParleyError } from '@parley/contracts';

/** What can be wrong with a backup or with making one. */
export type BackupErrorCode =
  | 'backup-exists'
  | 'backup-missing'
  | 'backup-damaged'
  | 'backup-newer'
  | 'backup-unwritable'
  | 'restore-unfinished';

/** Told to whoever makes a backup or puts one back; nothing was changed unless it says so. */
export class BackupError extends ParleyError {
  constructor(code: BackupErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}
