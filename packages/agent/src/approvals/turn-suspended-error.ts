import { ParleyError } from '@parley/contracts';

/** A turn waits for a person's decision. It is thrown to leave the loop; nothing has failed. */
export class TurnSuspendedError extends ParleyError {
  constructor(tool: string) {
    super({
      code: 'turn-suspended',
      message: `The turn waits for a decision about ${tool}; it goes on when that is made.`,
      retryable: true,
    });
  }
}
