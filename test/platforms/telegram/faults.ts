import type { RefusalParameters } from './refusal.ts';

/** What goes wrong. */
export type FaultEffect =
  /** Any status and body, for example a 502 with a page of HTML. */
  | { readonly kind: 'status'; readonly status: number; readonly body?: string | undefined }
  /** A refusal in the Bot API's own form. */
  | {
      readonly kind: 'refuse';
      readonly code: number;
      readonly description: string;
      readonly parameters?: RefusalParameters | undefined;
    }
  /** The connection is reset instead of an answer. */
  | { readonly kind: 'reset' }
  /** No answer until the client gives up or the double closes. */
  | { readonly kind: 'hang' }
  /** The right answer, `ms` later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** 200 with half a JSON document. */
  | { readonly kind: 'garbage' };

/** A fault that waits for calls. */
export type Fault = FaultEffect & {
  /** Only this method; any method but getUpdates when absent. */
  readonly method?: string | undefined;
  /** Only calls about this chat. */
  readonly chat?: number | undefined;
  /** How many calls it hits; 1 when absent. */
  readonly times?: number | undefined;
  /** Let this many matching calls through first. */
  readonly skip?: number | undefined;
  /** The call takes effect first: the message is there and the sender does not know. */
  readonly after?: boolean | undefined;
};

interface Armed {
  readonly fault: Fault;
  skip: number;
  left: number;
}

/** The faults not yet used up; the oldest one that matches is taken. */
export class Faults {
  #armed: Armed[] = [];

  arm(fault: Fault): void {
    this.#armed.push({ fault, skip: fault.skip ?? 0, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#armed = [];
  }

  /** The fault for this call, counted as used. */
  take(method: string, chat: number | undefined): Fault | undefined {
    for (const armed of this.#armed) {
      if (!matches(armed.fault, method, chat)) continue;
      if (armed.skip > 0) {
        armed.skip -= 1;
        continue;
      }
      armed.left -= 1;
      if (armed.left <= 0) this.#armed = this.#armed.filter((other) => other !== armed);
      return armed.fault;
    }
    return undefined;
  }
}

function matches(fault: Fault, method: string, chat: number | undefined): boolean {
  if (fault.chat !== undefined && fault.chat !== chat) return false;
  if (fault.method === undefined) return method !== 'getupdates';
  return fault.method.toLowerCase() === method;
}
