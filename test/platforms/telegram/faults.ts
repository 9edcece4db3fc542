import { ArmedFaults, type FaultAim } from '../armed-faults.ts';
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
export type Fault = FaultEffect &
  FaultAim & {
    /** Only this method; any method but getUpdates when absent. */
    readonly method?: string | undefined;
    /** Only calls about this chat. */
    readonly chat?: number | undefined;
    /** The call takes effect first: the message is there and the sender does not know. */
    readonly after?: boolean | undefined;
  };

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
