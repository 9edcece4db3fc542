import { Changes } from '../changes.ts';
import type { Pings } from './pings.ts';
import type { WireAttachment, WireMessage, WireReaction } from './wire.ts';

/** The place of a message: server, channel and thread, or the person of a direct message. */
export interface MessageRoute {
  readonly guildId?: string;
  /** The channel people find it in; for a thread, the channel above it. */
  readonly channelId: string;
  readonly threadId?: string;
  /** Only in a direct message. */
  readonly userId?: string;
  /** Only in the answer to a command or button. */
  readonly interactionId?: string;
  /** Only one person sees it. */
  readonly ephemeral?: true;
}

/** One message or edit that the bot sent, as it was stored. */
export interface Sent {
  /** Grows over everything the bot does. */
  readonly seq: number;
  /** When, in milliseconds of the double's clock. */
  readonly at: number;
  readonly kind: 'message' | 'edit';
  readonly route: MessageRoute;
  readonly messageId: string;
  /** The source as it was sent. */
  readonly content: string;
  /** The visible text. */
  readonly visible: string;
  readonly pings: Pings;
  readonly attachments: readonly WireAttachment[];
  readonly replyTo?: string;
  readonly nonce?: string | number;
  readonly message: WireMessage;
}

/** A message as people in the channel see it now. */
export interface VisibleMessage {
  readonly id: string;
  readonly from: 'bot' | string;
  /** The source as it was sent. */
  readonly content: string;
  /** The visible text. */
  readonly visible: string;
  readonly edited: boolean;
  readonly replyTo?: string;
  readonly attachments: readonly WireAttachment[];
  readonly reactions: readonly WireReaction[];
  readonly message: WireMessage;
}

/** The fault in place of an answer. */
export type Lost = 'reset' | 'hang-up' | 'hang';

/** One call of the REST interface. */
export interface RecordedCall {
  readonly seq: number;
  readonly at: number;
  /** Method and path without `/api/v10`. */
  readonly call: string;
  readonly body: unknown;
  /** HTTP status, or what the fault did instead of answering. */
  readonly outcome: number | Lost;
  /** Discord's own number of a refusal. */
  readonly code?: number;
}

/** The record of the bot's actions, in order, with those who wait for more. */
export class Transcript {
  readonly changes = new Changes(() => this.#summary());
  readonly #sends: Sent[] = [];
  readonly #calls: RecordedCall[] = [];
  readonly #clock: () => number;
  #seq = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  sent(sent: Omit<Sent, 'seq' | 'at'>): void {
    this.#seq += 1;
    this.#sends.push({ seq: this.#seq, at: this.#clock(), ...sent });
    this.changes.changed();
  }

  record(call: Omit<RecordedCall, 'seq' | 'at'>): void {
    this.#seq += 1;
    this.#calls.push({ seq: this.#seq, at: this.#clock(), ...call });
    this.changes.changed();
  }

  /** Everything the bot sent later than `after` (a `seq`), oldest first. */
  sends(after = 0): Sent[] {
    return this.#sends.filter(({ seq }) => seq > after);
  }

  /** All calls, or those that begin with `start`, for example `POST /channels/`. */
  calls(start = ''): RecordedCall[] {
    return this.#calls.filter(({ call }) => call.startsWith(start));
  }

  #summary(): string {
    const calls = this.#calls.slice(-10).map(({ call, outcome }) => `${call} ${outcome}`);
    return `Last calls: ${calls.join(' | ')}`;
  }
}
