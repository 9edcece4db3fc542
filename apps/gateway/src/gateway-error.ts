import { ParleyError } from '@parley/core';

/** An error that keeps the gateway from starting; its message contains advice. */
export class GatewayError extends ParleyError {
  constructor(code: string, message: string, cause?: unknown) {
    super({ code, message, retryable: false, cause });
  }
}
