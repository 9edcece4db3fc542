import { ParleyError } from '@parley/contracts';

/** Why a plugin does not work. */
export type PluginErrorCode =
  | 'plugin-missing'
  | 'plugin-place'
  | 'plugin-import'
  | 'plugin-shape'
  | 'plugin-options'
  | 'plugin-setup'
  | 'plugin-late'
  | 'plugin-duplicate';

/** One plugin cannot be used. Its message finishes the sentence "NAME does not work: …". */
export class PluginError extends ParleyError {
  constructor(code: PluginErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}
