import { z } from 'zod';

/** When a fault strikes. */
export const FAULT_AIM = {
  /** The number of times it strikes, `Infinity` for ever; 1 when absent. */
  times: z.number().or(z.literal(Number.POSITIVE_INFINITY)).optional(),
  /** Let this many matching calls pass first. */
  skip: z.number().optional(),
};
type FaultAim = z.infer<z.ZodObject<typeof FAULT_AIM>>;

/** The faults of any call over http; each has the aim of its platform. */
export function callFaults<Aim extends z.core.$ZodLooseShape>(aim: Aim) {
  return [
    /** Any status and body, for example a 502 with a page of HTML. */
    z.strictObject({
      kind: z.literal('status'),
      status: z.number(),
      body: z.string().optional(),
      ...aim,
    }),
    /** The connection is reset instead of an answer. */
    z.strictObject({ kind: z.literal('reset'), ...aim }),
    /** No answer until the client gives up or the double closes. */
    z.strictObject({ kind: z.literal('hang'), ...aim }),
    /** The right answer, `ms` later. */
    z.strictObject({ kind: z.literal('delay'), ms: z.number(), ...aim }),
    /** 200 with half a JSON document. */
    z.strictObject({ kind: z.literal('garbage'), ...aim }),
  ] as const;
}

interface Armed<Fault> {
  readonly fault: Fault;
  skip: number;
  left: number;
}

/** The faults not yet used up; the oldest one that matches is taken. */
export class ArmedFaults<Fault extends FaultAim> {
  #armed: Armed<Fault>[] = [];

  arm(fault: Fault): void {
    this.#armed.push({ fault, skip: fault.skip ?? 0, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#armed = [];
  }

  /**
   * The fault for this call, counted as used.
   * @param match gives a fault back, perhaps as a narrower type, if it is meant for this.
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
