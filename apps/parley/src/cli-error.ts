import { ParleyError } from '@parley/contracts';

/** Something a person typed or asked for that cannot be done; shown without a stack trace. */
export class CliError extends ParleyError {
  constructor(code: string, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}
