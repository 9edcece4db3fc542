import { z } from 'zod';

/** What goes beside a refusal, where a program can act on it. */
export const RefusalParameters = z.strictObject({
  /** Seconds to wait. */
  retry_after: z.number().optional(),
  migrate_to_chat_id: z.number().optional(),
});
export type RefusalParameters = z.infer<typeof RefusalParameters>;

/** An answer of the Bot API other than ok; thrown by the methods, written by the server. */
export class Refusal extends Error {
  readonly code: number;
  readonly parameters: RefusalParameters | undefined;

  constructor(code: number, description: string, parameters?: RefusalParameters) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

/** 400 with the server's usual beginning. */
export function badRequest(reason: string, parameters?: RefusalParameters): Refusal {
  return new Refusal(400, `Bad Request: ${reason}`, parameters);
}

/** 409, the answer to a second poller and to polling while a webhook is set. */
export function conflict(reason: string): Refusal {
  return new Refusal(409, `Conflict: ${reason}`);
}

/** 403, when the bot may not write there any more. */
export function forbidden(reason: string): Refusal {
  return new Refusal(403, `Forbidden: ${reason}`);
}
