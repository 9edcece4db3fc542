import { z } from 'zod';

/** Selects the matching calls that a fault applies to. */
export const FAULT_AIM = {
  /** The number of calls that the fault applies to, `Infinity` for all of them; 1 when absent. */
  times: z.number().or(z.literal(Number.POSITIVE_INFINITY)).optional(),
  /** The number of matching calls to skip before the fault applies. */
  skip: z.number().optional(),
};
type FaultAim = z.infer<z.ZodObject<typeof FAULT_AIM>>;

/**
 * The faults that apply to HTTP calls on any platform; `aim` adds the platform's own conditions.
 */
export function createCallFaultShapes<Aim extends z.core.$ZodLooseShape>(aim: Aim) {
  return [
    /** Answers with any status and body, for example a 502 with an HTML page. */
    z.strictObject({
      kind: z.literal('status'),
      status: z.number(),
      body: z.string().optional(),
      ...aim,
    }),
    /** Resets the connection instead of answering. */
    z.strictObject({ kind: z.literal('reset'), ...aim }),
    /** Does not answer until the client gives up or the double closes. */
    z.strictObject({ kind: z.literal('hang'), ...aim }),
    /** Sends the correct answer after `ms`. */
    z.strictObject({ kind: z.literal('delay'), ms: z.number(), ...aim }),
    /** Answers with status 200 and a truncated JSON document. */
    z.strictObject({ kind: z.literal('garbage'), ...aim }),
  ] as const;
}

interface ArmedFault<Fault> {
  readonly fault: Fault;
  skip: number;
  left: number;
}

/** The faults that are still armed; the oldest match is used first. */
export class ArmedFaults<Fault extends FaultAim> {
  #armed: ArmedFault<Fault>[] = [];

  arm(fault: Fault): void {
    this.#armed.push({ fault, skip: fault.skip ?? 0, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#armed = [];
  }

  /**
   * Returns the fault for this call and counts it as used.
   * @param match returns the fault, possibly narrowed, if it applies to this call
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
