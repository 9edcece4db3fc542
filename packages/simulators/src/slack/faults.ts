import { z } from 'zod';
import { ArmedFaults, createCallFaultShapes, FAULT_AIM } from '../armed-faults.ts';

const aim = {
  ...FAULT_AIM,
  /** The method that the fault applies to, such as `chat.postMessage`; any method when absent. */
  method: z.string().optional(),
  channel: z.string().optional(),
  /**
   * The call takes effect before the fault: the message is posted, but the bot does not get a
   * response.
   */
  after: z.boolean().optional(),
};

/** A fault that applies to the next matching call. */
export const CallFault = z.discriminatedUnion('kind', [
  ...createCallFaultShapes(aim),
  /** An error response in the format of the Web API. */
  z.strictObject({ kind: z.literal('refuse'), error: z.string(), ...aim }),
  /** A response with status 429 and `retry-after` in seconds. */
  z.strictObject({ kind: z.literal('rate-limit'), seconds: z.number(), ...aim }),
]);
export type CallFault = z.infer<typeof CallFault>;

/** The number of deliveries that a fault affects. */
const count = { times: FAULT_AIM.times };

/**
 * A fault that applies to the next deliveries; events about the bot's own actions are not affected.
 */
export const EventFault = z.discriminatedUnion('kind', [
  /** Delivers the event twice; the second delivery has no retry headers. */
  z.strictObject({ kind: z.literal('duplicate'), ...count }),
  z.strictObject({ kind: z.literal('late'), ms: z.number(), ...count }),
  /** Delivers the event after the one that follows it. */
  z.strictObject({ kind: z.literal('swap'), ...count }),
  /** The delivery attempt fails before it reaches the bot. */
  z.strictObject({ kind: z.literal('undelivered'), ...count }),
  /** The servers do not receive the bot's acknowledgement and redeliver the event. */
  z.strictObject({ kind: z.literal('lost-acknowledgement'), ...count }),
]);
type EventFault = z.infer<typeof EventFault>;

export const Fault = z.union([CallFault, EventFault]);
export type Fault = z.infer<typeof Fault>;

export class FaultInjector {
  readonly #calls = new ArmedFaults<CallFault>();
  readonly #events = new ArmedFaults<EventFault>();

  arm(fault: Fault): void {
    const call = CallFault.safeParse(fault).data;
    if (call === undefined) this.#events.arm(EventFault.parse(fault));
    else this.#calls.arm(call);
  }

  clear(): void {
    this.#calls.clear();
    this.#events.clear();
  }

  /** Returns the fault for this call and counts it as used. */
  takeForCall(method: string, channel: string | undefined): CallFault | undefined {
    return this.#calls.take((fault) => {
      if (fault.channel !== undefined && fault.channel !== channel) return undefined;
      return fault.method === undefined || fault.method === method ? fault : undefined;
    });
  }

  /** Returns the fault of this kind for a delivery and counts it as used. */
  takeForEvent<Kind extends EventFault['kind']>(
    kind: Kind,
  ): (EventFault & { kind: Kind }) | undefined {
    return this.#events.take((fault) =>
      fault.kind === kind ? (fault as EventFault & { kind: Kind }) : undefined,
    );
  }
}
