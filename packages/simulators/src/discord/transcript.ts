import { ChangeNotifier } from '../changes.ts';
import type { Pings } from './pings.ts';
import type { WireAttachment, WireMessage, WireReaction } from './wire.ts';

/**
 * Where a message was sent: the guild, channel and thread, or the other person in a direct chat.
 */
export interface MessageRoute {
  readonly guildId?: string;
  /** The channel that contains the message, or the parent channel of its thread. */
  readonly channelId: string;
  readonly threadId?: string;
  /** Set only for a direct message. */
  readonly userId?: string;
  /** Set only for a response to an interaction. */
  readonly interactionId?: string;
  /** Set for an ephemeral message, which only this person sees. */
  readonly ephemeral?: true;
}

/** A message or edit that the bot sent, as it was stored. */
export interface SentMessage {
  /** Increases with every message or edit by the bot. */
  readonly seq: number;
  /** The time according to the double's clock, in ms since 1970. */
  readonly at: number;
  readonly kind: 'message' | 'edit';
  readonly route: MessageRoute;
  readonly messageId: string;
  /** The message as Markdown source. */
  readonly content: string;
  /** The message as people see it. */
  readonly visible: string;
  readonly pings: Pings;
  readonly attachments: readonly WireAttachment[];
  readonly replyTo?: string;
  readonly nonce?: string | number;
  readonly message: WireMessage;
}

/** A visible message of a channel in its current state. */
export interface VisibleMessage {
  readonly id: string;
  readonly from: 'bot' | string;
  /** The message as Markdown source. */
  readonly content: string;
  /** The message as people see it. */
  readonly visible: string;
  readonly edited: boolean;
  readonly replyTo?: string;
  readonly attachments: readonly WireAttachment[];
  readonly reactions: readonly WireReaction[];
  readonly message: WireMessage;
}

export type LostResponse = 'reset' | 'hang-up' | 'hang';

export interface RecordedCall {
  readonly seq: number;
  readonly at: number;
  /** The method and the path without `/api/v10`. */
  readonly call: string;
  readonly body: unknown;
  /** The HTTP status of the response, or the fault that replaced it. */
  readonly outcome: number | LostResponse;
  /** Discord's error code, if the call was refused. */
  readonly code?: number;
}

/** Records the bot's actions in order and notifies waiting listeners. */
export class Transcript {
  readonly changes = new ChangeNotifier(() => this.#summary());
  readonly #sends: SentMessage[] = [];
  readonly #calls: RecordedCall[] = [];
  readonly #clock: () => number;
  #seq = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  sent(sent: Omit<SentMessage, 'seq' | 'at'>): void {
    this.#seq += 1;
    this.#sends.push({ seq: this.#seq, at: this.#clock(), ...sent });
    this.changes.changed();
  }

  record(call: Omit<RecordedCall, 'seq' | 'at'>): void {
    this.#seq += 1;
    this.#calls.push({ seq: this.#seq, at: this.#clock(), ...call });
    this.changes.changed();
  }

  /** All messages that the bot sent after `after` (a `seq`), oldest first. */
  sends(after = 0): SentMessage[] {
    return this.#sends.filter(({ seq }) => seq > after);
  }

  /**
   * All calls, or those whose method and path begin with `start`, for example `POST /channels/`.
   */
  calls(start = ''): RecordedCall[] {
    return this.#calls.filter(({ call }) => call.startsWith(start));
  }

  #summary(): string {
    const calls = this.#calls.slice(-10).map(({ call, outcome }) => `${call} ${outcome}`);
    return `Last calls: ${calls.join(' | ')}`;
  }
}
