import { ParleyError } from '@parley/contracts';

/** Why a settings file could not even be read. What is wrong *inside* a readable file is a `SettingsProblem`. */
export type SettingsErrorCode =
  | 'settings-is-directory'
  | 'settings-unreadable'
  | 'settings-too-large'
  | 'settings-encoding'
  | 'settings-unwritable';

/** Thrown when the settings file (or a secret file) cannot be read or written at all. */
export class SettingsError extends ParleyError {
  constructor(code: SettingsErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}
