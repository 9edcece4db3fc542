import { ArmedFaults, type FaultAim } from '../armed-faults.ts';
/** What goes wrong with a REST call. */
export type RestFaultEffect =
  /** Any status and body, for example a 502 with a page of HTML. */
  | { readonly kind: 'status'; readonly status: number; readonly body?: string | undefined }
  /** A refusal in Discord's own form. */
  | {
      readonly kind: 'refuse';
      readonly status: number;
      readonly code: number;
      readonly message: string;
    }
  /** 429, for this route or for all. */
  | {
      readonly kind: 'rate-limit';
      readonly retryAfterMs: number;
      readonly global?: boolean | undefined;
    }
  /** The connection is reset instead of an answer; discord.js sends again. */
  | { readonly kind: 'reset' }
  /** The connection is closed in order instead of an answer; discord.js gives up. */
  | { readonly kind: 'hang-up' }
  /** No answer until the client gives up or the double closes. */
  | { readonly kind: 'hang' }
  /** The right answer, `ms` later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** 200 with half a JSON document. */
  | { readonly kind: 'garbage' };

/** A fault that waits for calls. */
export type RestFault = RestFaultEffect &
  FaultAim & {
    /** Beginning of method and path, for example `POST /channels/`; any call but GET when absent. */
    readonly call?: string | undefined;
    /** Only calls about this channel. */
    readonly channel?: string | undefined;
    /** The call takes effect first: the message is there and the sender does not know. */
    readonly after?: boolean | undefined;
  };

/** What goes wrong with the gateway, at once. */
export type GatewayFault =
  /** The connection ends without a word. */
  | { readonly kind: 'drop' }
  /** The connection stays, and nothing arrives on it any more, heartbeat acknowledgements neither. */
  | { readonly kind: 'silence' }
  /** As silence, and the servers hear nothing either, not even a good-bye. */
  | { readonly kind: 'freeze' }
  /** What is sent on the connections of now arrives this much later, in order. */
  | { readonly kind: 'lag'; readonly ms: number }
  /** Op 7. */
  | { readonly kind: 'reconnect' }
  /** Op 9; the session is lost unless it is resumable. */
  | { readonly kind: 'invalid-session'; readonly resumable: boolean }
  /** The servers close with a code, for example 4009. */
  | { readonly kind: 'close'; readonly code: number }
  /** No RESUME succeeds any more. */
  | { readonly kind: 'forget-sessions' }
  /** An outage takes a guild away, or gives it back. */
  | { readonly kind: 'guild-unavailable'; readonly guild: string }
  | { readonly kind: 'guild-back'; readonly guild: string }
  /** The bot is thrown out. */
  | { readonly kind: 'kicked'; readonly guild: string }
  /** The next events come twice. */
  | { readonly kind: 'duplicate'; readonly events: number }
  /** Of the next pairs of events the later comes first. */
  | { readonly kind: 'swap'; readonly pairs: number };

/** Anything that can go wrong. */
export type Fault = RestFault | GatewayFault;

const GATEWAY_FAULTS: ReadonlySet<string> = new Set<GatewayFault['kind']>([
  'drop',
  'silence',
  'freeze',
  'lag',
  'reconnect',
  'invalid-session',
  'close',
  'forget-sessions',
  'guild-unavailable',
  'guild-back',
  'kicked',
  'duplicate',
  'swap',
]);

/** Whether a fault strikes the gateway now, rather than a later call. */
export function isGatewayFault(fault: Fault): fault is GatewayFault {
  return GATEWAY_FAULTS.has(fault.kind);
}

/** The REST faults not yet used up. */
export class RestFaults extends ArmedFaults<RestFault> {
  /** The fault for this call, counted as used. */
  takeFor(call: string, channel: string | undefined): RestFault | undefined {
    return this.take((fault) => (matches(fault, call, channel) ? fault : undefined));
  }
}

function matches(fault: RestFault, call: string, channel: string | undefined): boolean {
  if (fault.channel !== undefined && fault.channel !== channel) return false;
  return fault.call === undefined ? !call.startsWith('GET ') : call.startsWith(fault.call);
}
