import { z } from 'zod';
import { ArmedFaults, FAULT_AIM } from '../armed-faults.ts';
import { RefusalParameters } from './refusal.ts';

const aim = {
  ...FAULT_AIM,
  /** Only this method; any method but getUpdates when absent. */
  method: z.string().optional(),
  /** Only calls about this chat. */
  chat: z.number().optional(),
  /** The call takes effect first: the message is there and the sender does not know. */
  after: z.boolean().optional(),
};
const kind = <K extends string>(name: K) => ({ kind: z.literal(name) });

/** What goes wrong with a call that waits for it. */
export const Fault = z.discriminatedUnion('kind', [
  /** Any status and body, for example a 502 with a page of HTML. */
  z.strictObject({ ...kind('status'), status: z.number(), body: z.string().optional(), ...aim }),
  /** A refusal in the Bot API's own form. */
  z.strictObject({
    ...kind('refuse'),
    code: z.number(),
    description: z.string(),
    parameters: RefusalParameters.optional(),
    ...aim,
  }),
  /** The connection is reset instead of an answer. */
  z.strictObject({ ...kind('reset'), ...aim }),
  /** No answer until the client gives up or the double closes. */
  z.strictObject({ ...kind('hang'), ...aim }),
  /** The right answer, `ms` later. */
  z.strictObject({ ...kind('delay'), ms: z.number(), ...aim }),
  /** 200 with half a JSON document. */
  z.strictObject({ ...kind('garbage'), ...aim }),
]);
export type Fault = z.infer<typeof Fault>;

/** The faults not yet used up. */
export class Faults extends ArmedFaults<Fault> {
  /** The fault for this call, counted as used. */
  takeFor(method: string, chat: number | undefined): Fault | undefined {
    return this.take((fault) => (matches(fault, method, chat) ? fault : undefined));
  }
}

function matches(fault: Fault, method: string, chat: number | undefined): boolean {
  if (fault.chat !== undefined && fault.chat !== chat) return false;
  if (fault.method === undefined) return method !== 'getupdates';
  return fault.method.toLowerCase() === method;
}
