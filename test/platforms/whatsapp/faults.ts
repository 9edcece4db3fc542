import { ArmedFaults, type FaultAim } from '../armed-faults.ts';

/** The socket opens and the server says nothing. */
export interface GreetingFault {
  readonly kind: 'no-greeting';
}

/** A login is refused with a reason: 401 logged out, 403 banned, 405 the version is too old, 503 … */
export interface LoginFault {
  readonly kind: 'failure';
  readonly reason: number;
}

/** A message of the bot goes wrong. */
export type SendFault =
  /** The server answers with an error, and nobody gets the message: 463, 479, 429 … */
  | { readonly kind: 'refuse'; readonly code: number }
  /** No answer; people get the message unless `lost`. */
  | { readonly kind: 'no-ack'; readonly lost?: boolean | undefined }
  /** The answer comes `ms` later. */
  | { readonly kind: 'late-ack'; readonly ms: number }
  /** The connection breaks instead of an answer; people get the message unless `lost`. */
  | { readonly kind: 'drop'; readonly lost?: boolean | undefined };

/** Something for the bot goes wrong. */
export type DeliveryFault =
  /** The same stanza twice. */
  | { readonly kind: 'twice' }
  /** Half of the stanza, then the connection breaks; it comes again at the next login. */
  | { readonly kind: 'cut' }
  /** The connection breaks as soon as the stanza is sent; it comes again at the next login. */
  | { readonly kind: 'drop-after' };

/** What a person's phone sealed cannot be opened. */
export interface SealFault {
  readonly kind: 'garble';
}

/** A query of the bot goes wrong. */
export type QueryFault =
  | { readonly kind: 'query-error'; readonly xmlns: string; readonly code: number }
  | { readonly kind: 'query-silence'; readonly xmlns: string };

interface FaultKinds {
  readonly greeting: GreetingFault;
  readonly login: LoginFault;
  readonly send: SendFault;
  readonly delivery: DeliveryFault;
  readonly seal: SealFault;
  readonly query: QueryFault;
}

/** A fault that waits for its moment. */
export type Fault = FaultKinds[keyof FaultKinds] &
  FaultAim & {
    /** Only in this chat: a person in any form, or a group. */
    readonly chat?: string | undefined;
  };

const STAGES: { readonly [Kind in Fault['kind']]: keyof FaultKinds } = {
  failure: 'login',
  'no-greeting': 'greeting',
  refuse: 'send',
  'no-ack': 'send',
  'late-ack': 'send',
  drop: 'send',
  twice: 'delivery',
  cut: 'delivery',
  'drop-after': 'delivery',
  garble: 'seal',
  'query-error': 'query',
  'query-silence': 'query',
};

/** The faults not yet used up. */
export class Faults extends ArmedFaults<Fault> {
  takeGreeting(): GreetingFault | undefined {
    return this.take((fault) => (isOf(fault, 'greeting') ? fault : undefined));
  }

  takeLogin(): LoginFault | undefined {
    return this.take((fault) => (isOf(fault, 'login') ? fault : undefined));
  }

  takeSend(chat: string): SendFault | undefined {
    return this.take((fault) => (isOf(fault, 'send') && here(fault, chat) ? fault : undefined));
  }

  takeDelivery(chat: string): DeliveryFault | undefined {
    return this.take((fault) => (isOf(fault, 'delivery') && here(fault, chat) ? fault : undefined));
  }

  takeSeal(chat: string): SealFault | undefined {
    return this.take((fault) => (isOf(fault, 'seal') && here(fault, chat) ? fault : undefined));
  }

  takeQuery(xmlns: string): QueryFault | undefined {
    return this.take((fault) =>
      isOf(fault, 'query') && fault.xmlns === xmlns ? fault : undefined,
    );
  }
}

function isOf<Stage extends keyof FaultKinds>(
  fault: Fault,
  stage: Stage,
): fault is Fault & FaultKinds[Stage] {
  return STAGES[fault.kind] === stage;
}

function here(fault: Fault, chat: string): boolean {
  return fault.chat === undefined || fault.chat === chat;
}
