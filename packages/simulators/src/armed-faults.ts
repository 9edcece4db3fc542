import { z } from 'zod';

/** Which of the matching calls a fault hits. */
export const FAULT_AIM = {
  /** How many calls it hits, `Infinity` for all of them; 1 when absent. */
  times: z.number().or(z.literal(Number.POSITIVE_INFINITY)).optional(),
  /** The number of matching calls to let through first. */
  skip: z.number().optional(),
};
type FaultAim = z.infer<z.ZodObject<typeof FAULT_AIM>>;

/** The faults that any call over HTTP can have; `aim` adds the platform's own conditions. */
export function callFaults<Aim extends z.core.$ZodLooseShape>(aim: Aim) {
  return [
    /** Any status and body, for example a 502 with an HTML page. */
    z.strictObject({
      kind: z.literal('status'),
      status: z.number(),
      body: z.string().optional(),
      ...aim,
    }),
    /** Resets the connection instead of answering. */
    z.strictObject({ kind: z.literal('reset'), ...aim }),
    /** No answer until the client gives up or the double closes. */
    z.strictObject({ kind: z.literal('hang'), ...aim }),
    /** The correct answer, `ms` later. */
    z.strictObject({ kind: z.literal('delay'), ms: z.number(), ...aim }),
    /** Status 200 with a truncated JSON document. */
    z.strictObject({ kind: z.literal('garbage'), ...aim }),
  ] as const;
}

interface Armed<Fault> {
  readonly fault: Fault;
  skip: number;
  left: number;
}

/** The faults that are still armed; the oldest match is used first. */
export class ArmedFaults<Fault extends FaultAim> {
  #armed: Armed<Fault>[] = [];

  arm(fault: Fault): void {
    this.#armed.push({ fault, skip: fault.skip ?? 0, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#armed = [];
  }

  /**
   * Returns the fault for this call and counts it as used.
   * @param match returns the fault, perhaps narrowed, when it applies to this call
   */
  take<T>(match: (fault: Fault) => T | undefined): T | undefined {
    for (const armed of this.#armed) {
      const fault = match(armed.fault);
      if (fault === undefined) continue;
      if (armed.skip > 0) {
        armed.skip -= 1;
        continue;
      }
      armed.left -= 1;
      if (armed.left <= 0) this.#armed = this.#armed.filter((other) => other !== armed);
      return fault;
    }
    return undefined;
  }
}
